"""What pydantic and the shape of the file find wrong, as problems with place, words and remedy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from driftgate.config import refusal
from driftgate.config.model import Document
from driftgate.config.tree import Path, Tree
from driftgate.domain.errors import Problem
from driftgate.domain.fields import did_you_mean, shown
from driftgate.domain.jsonvalue import items, mapping

_NAMED_LISTS = ("windows", "blackouts", "pools", "clusters", "alarms", "placements")
_WANTED = {
    "string_type": ("text", "Put it in quotes."),
    "bool_type": ("true or false", "Write true or false."),
    "int_type": ("a whole number", "Write it in digits."),
    "tuple_type": ("a list", "Write it in [], or each entry on a line of its own after a dash."),
    "model_type": ("a map", "Write keys with values, such as {name: app}."),
}


def shape_problems(tree: Tree, error: ValidationError) -> Iterator[Problem]:
    """One problem for each fault that pydantic found, but for values that the tree has told of already."""
    told = {(problem.place, problem.path) for problem in tree.problems}
    problems = (_problem(tree, details) for details in error.errors(include_url=False))
    return (problem for problem in problems if (problem.place, problem.path) not in told)


def list_problems(tree: Tree) -> Iterator[Problem]:
    """What no value has wrong by itself: keys that exclude each other, empty lists, names that stand twice."""
    top = mapping(tree.value)
    if "cluster" in top and "clusters" in top:
        yield tree.problem(("clusters",), "stands beside cluster", "Keep one of the two.", at_key=True)
    if "cluster" not in top and "clusters" not in top:
        yield tree.problem((), "names no cluster", "Add cluster: with its name, or clusters: with a list.")
    yield from _faulty_lists(tree, top, ())
    yield from _unknown_placements(tree, top)


def _unknown_placements(tree: Tree, top: Mapping[str, object]) -> Iterator[Problem]:
    """Clusters, or the top, that name a placement which `deployment` does not have."""
    declared = items(mapping(top.get("deployment")).get("placements"))
    known = [name for name in (mapping(entry).get("name") for entry in declared) if isinstance(name, str)]
    paths: list[Path] = [
        ("placement",),
        *(("clusters", n, "placement") for n in range(len(items(top.get("clusters"))))),
    ]
    levels = [top, *(mapping(cluster) for cluster in items(top.get("clusters")))]
    for path, level in zip(paths, levels, strict=True):
        name = level.get("placement")
        if isinstance(name, str) and name not in known:
            remedy = did_you_mean(name, known) or f"Add it to deployment.placements{_listed(known)}."
            yield tree.problem(path, f"{name} is no placement of the deployment", remedy)


def _listed(known: Sequence[str]) -> str:
    return f", or name one of {', '.join(known)}" if known else ""


def _faulty_lists(tree: Tree, value: object, path: Path) -> Iterator[Problem]:
    for key, entry in mapping(value).items():
        where = (*path, key)
        if key in ("pools", "clusters") and entry == ():
            yield tree.problem(where, "is empty, so nothing would be looked at", "Name one, or take the key out.")
        if key in _NAMED_LISTS:
            yield from _doubled_names(tree, where, [_identity(item) for item in items(entry)])
        for index, item in enumerate(items(entry)):
            yield from _faulty_lists(tree, item, (*where, index))
        yield from _faulty_lists(tree, entry, where)


def _doubled_names(tree: Tree, path: Path, names: list[str]) -> Iterator[Problem]:
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):
        seen[name] += 1
        if name and seen[name] == 2:
            first = tree.values.get((*path, names.index(name)), "")
            yield tree.problem(
                (*path, index), f"the name {name} stands twice", f"Rename one of them; the first is at {first}."
            )


def _identity(item: object) -> str:
    """What tells entries of a list apart: the name; an alarm's also by where it is."""
    if isinstance(item, str):
        return item
    entry = mapping(item)
    return " ".join(str(entry[key]) for key in ("name", "region", "account_role") if key in entry and "name" in entry)


def _problem(tree: Tree, details: ErrorDetails) -> Problem:
    path: Path = tuple(details["loc"])
    message, remedy = _words(path, details)
    return tree.problem(path, message, remedy, at_key=details["type"] == "extra_forbidden")


def _words(path: Path, details: ErrorDetails) -> tuple[str, str]:
    """What is wrong, and what to do."""
    found = shown(details["input"])
    context: Mapping[str, object] = details.get("ctx", {})
    match details["type"]:
        case refusal.REFUSED:
            return str(context["message"]), str(context["remedy"])
        case "missing":
            return "is missing", f"Add {path[-1]}: {_example(path)}."
        case "extra_forbidden":
            return "is not a key here", _known_keys(path)
        case "literal_error":
            expected = str(context["expected"]).replace("'", "")
            return f"should be {expected}, not {found}", f"Write {expected}."
        case "greater_than_equal":
            return f"should be {context['ge']} or more, not {found}", f"Write {context['ge']}."
        case kind:
            wanted, remedy = _WANTED.get(kind, (f"something else ({details['msg']})", "Write another value."))
            return f"should be {wanted}, not {found}", remedy


def _known_keys(path: Path) -> str:
    known = [field.alias or name for name, field in _model_at(path[:-1]).model_fields.items()]
    return did_you_mean(str(path[-1]), known) or f"Known here: {', '.join(known)}."


def _example(path: Path) -> str:
    for name, field in _model_at(path[:-1]).model_fields.items():
        if (field.alias or name) == path[-1] and field.examples:
            return str(field.examples[0])
    return "a value"


def _model_at(path: Path) -> type[BaseModel]:
    """The model of the map at that path."""
    model: type[BaseModel] = Document
    for key in path:
        field = model.model_fields.get(str(key))
        if field is not None:
            model = next(_models_in(field.annotation), model)
    return model


def _models_in(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for argument in get_args(annotation):
        yield from _models_in(argument)
