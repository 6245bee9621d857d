"""`python -m infra.packaging` (`make package`): a CloudFormation template and its code, for those who have no CDK."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from zipfile import ZipFile

from driftgate.contract import CONFIG_FILE
from driftgate.domain.errors import InvalidInputError
from infra.packaging.bundle import Bundle
from infra.packaging.package import package
from infra.packaging.wheels import PackagingError

NEXT = """\
Upload the archives to a bucket in the region of the stack, then create the stack:
  aws s3 cp {folder} s3://BUCKET/driftgate/ --recursive --exclude '*' --include '*.zip'
  aws cloudformation deploy --stack-name {stack} --template-file {template} \\
    --s3-bucket BUCKET --s3-prefix driftgate --capabilities CAPABILITY_NAMED_IAM \\
    --parameter-overrides CodeBucket=BUCKET CodePrefix=driftgate/"""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m infra.packaging", description="Write what is deployed without CDK."
    )
    parser.add_argument("--config", type=Path, default=Path(CONFIG_FILE), help="driftgate.yaml")
    parser.add_argument("--out", type=Path, default=Path("dist"), help="where it is written")
    arguments = parser.parse_args()
    try:
        bundle = package(arguments.config, arguments.out)
    except (InvalidInputError, PackagingError) as error:
        print(error, file=sys.stderr)
        return 2
    _tell(bundle)
    return 0


def _tell(bundle: Bundle) -> None:
    for archive in bundle.archives:
        with ZipFile(archive) as code:
            unpacked = sum(entry.file_size for entry in code.infolist())
        print(f"{archive}: {archive.stat().st_size / 1e6:.1f} MB, {unpacked / 1e6:.1f} MB unpacked")
    print(bundle.template)
    stack = bundle.template.name.removesuffix(".template.json")
    print(NEXT.format(folder=bundle.template.parent, stack=stack, template=bundle.template))


if __name__ == "__main__":
    sys.exit(main())
