"""The history of image parameters in the ledger's table, in partitions of its own, so that no heartbeat reads it.

pk               sk                      written by   read by
images#<region>  seen#<account>#<name>   the poll     the poll, and every full look for the names that it follows

Must not know what an image means.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from driftgate.adapters.aws_session import AwsSession
from driftgate.adapters.dynamodb_calls import DynamoDbCalls
from driftgate.adapters.dynamodb_errors import ConditionFailedError
from driftgate.adapters.ledger_dynamodb_changes import ABSENT, equal
from driftgate.adapters.ledger_dynamodb_items import SCHEMA_VERSION, Item, as_json, expires_unused, joined, key, number
from driftgate.domain.errors import AnswerLostError, InvalidInputError, LedgerConflictError, LedgerCorruptError
from driftgate.domain.fields import Fields
from driftgate.domain.jsonvalue import rfc3339
from driftgate.domain.records import known
from driftgate.domain.seen_images import Key, SeenImage, SeenParameter
from driftgate.ports import Clock

PARTITION = "images"
KEYS_PER_CALL = 100


class DynamoDbImageHistory:
    """Raises, beside what the port says: PermanentError where there is no such table."""

    def __init__(self, aws: AwsSession, table: str, clock: Clock, region: str | None = None) -> None:
        self._calls = DynamoDbCalls(aws, table, clock, region)
        self._clock = clock

    def load(self, keys: Sequence[Key]) -> Mapping[Key, SeenParameter]:
        asked = list(dict.fromkeys(keys))
        starts = range(0, len(asked), KEYS_PER_CALL)
        items = [
            item for start in starts for item in self._calls.get(list(_keys(asked[start : start + KEYS_PER_CALL])))
        ]
        return {seen.key: seen for seen in map(_seen, items)}

    def save(self, seen: SeenParameter) -> None:
        condition = equal(version={"N": str(seen.version)}) if seen.version else ABSENT
        try:
            self._calls.put(self._item(replace(seen, version=seen.version + 1)), condition)
        except ConditionFailedError as failure:
            if failure.may_have_happened:
                raise AnswerLostError(f"what was seen of {seen.name} may have been stored: load again") from failure
            raise LedgerConflictError(f"somebody else stored what was seen of {seen.name}: load again") from failure

    def _item(self, seen: SeenParameter) -> Item:
        body = known(
            region=seen.region,
            account=seen.account,
            name=seen.name,
            images=[_image_to_object(image) for image in seen.images],
            told=seen.told,
            trouble=seen.trouble,
        )
        described = {"v": {"N": str(SCHEMA_VERSION)}, "kind": {"S": "seen"}, "body": {"S": as_json(body)}}
        ends = {"version": {"N": str(seen.version)}, "ttl": expires_unused(self._clock.now())}
        return next(_keys([seen.key])) | described | ends


def _keys(keys: Sequence[Key]) -> Iterator[Item]:
    return (key(joined(PARTITION, region), "seen", account, name) for region, account, name in keys)


def _image_to_object(image: SeenImage) -> dict[str, object]:
    return known(
        image=image.image,
        name=image.name,
        createdAt=rfc3339(image.created_at),
        deprecatedAt=rfc3339(image.deprecated_at),
        since=rfc3339(image.since),
    )


def _seen(item: Item) -> SeenParameter:
    """Raises LedgerCorruptError."""
    try:
        fields = Fields(json.loads(item["body"]["S"]), "body")
        return SeenParameter(
            region=fields.required_text("region"),
            account=fields.text("account"),
            name=fields.required_text("name"),
            images=tuple(_image(Fields(entry, place)) for entry, place in fields.entries("images") or ()),
            told=fields.text("told"),
            trouble=fields.text("trouble"),
            version=number(item, "version"),
        )
    except (KeyError, ValueError, InvalidInputError) as error:
        place = "/".join(item.get(part, {}).get("S", "?") for part in ("pk", "sk"))
        raise LedgerCorruptError(
            f"ledger item {place} cannot be read: {error} · Delete it: the next poll begins it anew."
        ) from error


def _image(fields: Fields) -> SeenImage:
    return SeenImage(
        image=fields.required_text("image"),
        name=fields.text("name"),
        created_at=fields.instant("createdAt"),
        deprecated_at=fields.instant("deprecatedAt"),
        since=fields.instant("since"),
    )
