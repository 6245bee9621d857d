"""The template for people without CDK, made from small ones by hand."""

from __future__ import annotations

import json
from zipfile import ZipFile

import pytest

from infra.packaging import PackagingError
from infra.packaging.bundle import write_bundle
from infra.packaging.plain import PARAMETERS, plain_template

CDK_BUCKET = {"Fn::Sub": "cdk-hnb659fds-assets-${AWS::AccountId}-${AWS::Region}"}


def function(**code):
    return {"Type": "AWS::Lambda::Function", "Properties": {"Code": code, "Runtime": "python3.14"}}


def from_cdk(**resources):
    """A template as CDK writes it."""
    return {
        "Description": "d",
        "Resources": resources,
        "Parameters": {
            "BootstrapVersion": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/cdk-bootstrap/v"}
        },
        "Rules": {"CheckBootstrapVersion": {"Assertions": []}},
    }


def test_code_comes_from_the_reader_s_bucket():
    template = from_cdk(Own=function(S3Bucket=CDK_BUCKET, S3Key="abc.zip"))

    plain = plain_template(template, {"abc.zip": "driftgate-1.zip"})

    code = {"S3Bucket": {"Ref": "CodeBucket"}, "S3Key": {"Fn::Sub": "${CodePrefix}driftgate-1.zip"}}
    assert plain == {"Description": "d", "Resources": {"Own": function(**code)}, "Parameters": PARAMETERS}


def test_what_was_given_stays_as_it_was():
    template = from_cdk(Own=function(S3Bucket=CDK_BUCKET, S3Key="abc.zip"))
    before = json.dumps(template)

    plain_template(template, {"abc.zip": "driftgate-1.zip"})

    assert json.dumps(template) == before


def test_parameters_and_rules_of_our_own_stay():
    template = from_cdk()
    template["Parameters"]["Email"] = {"Type": "String"}
    template["Rules"]["Ours"] = {"Assertions": [{"Assert": True}]}

    plain = plain_template(template, {})

    assert plain["Parameters"] == {**PARAMETERS, "Email": {"Type": "String"}}
    assert plain["Rules"] == {"Ours": {"Assertions": [{"Assert": True}]}}


def test_notes_of_cdk_go_and_those_of_others_stay():
    marked = {"Type": "AWS::SQS::Queue", "Metadata": {"aws:cdk:path": "a/b", "why": "kept"}}
    only_marked = {"Type": "AWS::SNS::Topic", "Metadata": {"aws:asset:path": "x"}}

    plain = plain_template(from_cdk(A=marked, B=only_marked), {})

    assert plain["Resources"] == {
        "A": {"Type": "AWS::SQS::Queue", "Metadata": {"why": "kept"}},
        "B": {"Type": "AWS::SNS::Topic"},
    }


def test_a_template_that_still_names_the_bootstrap_is_refused():
    template = from_cdk(Own=function(S3Bucket=CDK_BUCKET, S3Key="unknown.zip"))

    with pytest.raises(PackagingError, match="still names a bucket or a role of CDK's bootstrap"):
        plain_template(template, {"abc.zip": "driftgate-1.zip"})


def test_a_folder_of_code_becomes_an_archive_too(tmp_path):
    source = tmp_path / "asset.abc"
    source.mkdir()
    (source / "index.py").write_text("x = 1\n")
    destination = {"there": {"bucketName": "b", "objectKey": "abc.zip"}}
    files = {"abc": {"source": {"path": "asset.abc", "packaging": "zip"}, "destinations": destination}}
    template = from_cdk(Own=function(S3Bucket=CDK_BUCKET, S3Key="abc.zip"))
    (tmp_path / "own.template.json").write_text(json.dumps(template))
    (tmp_path / "own.assets.json").write_text(json.dumps({"files": files}))

    bundle = write_bundle(tmp_path / "own.template.json", tmp_path / "dist")

    (archive,) = bundle.archives
    assert ZipFile(archive).read("index.py") == b"x = 1\n"
    key = json.loads(bundle.template.read_text())["Resources"]["Own"]["Properties"]["Code"]["S3Key"]
    assert key == {"Fn::Sub": f"${{CodePrefix}}{archive.name}"}
