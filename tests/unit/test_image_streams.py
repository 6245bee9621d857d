"""The streams of images that AWS publishes for EKS: their parameters, and the names of their images."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftgate.domain.image_streams import (
    ALIAS_FAMILIES,
    LATEST,
    ImageStream,
    parameter_of,
    stream_of_image,
    stream_of_parameter,
    streams_of_alias,
)

EKS = "/aws/service/eks/optimized-ami"
BOTTLEROCKET = "/aws/service/bottlerocket"
WINDOWS = "/aws/service/ami-windows-latest/Windows_Server"


def parameters(family, minor, version=LATEST):
    return [parameter_of(stream, version) for stream in streams_of_alias(family, minor)]


class TestAliases:
    def test_al2023_has_neuron_for_x86_alone(self):
        assert parameters("al2023", "1.34") == [
            f"{EKS}/1.34/amazon-linux-2023/x86_64/standard/recommended/image_id",
            f"{EKS}/1.34/amazon-linux-2023/x86_64/nvidia/recommended/image_id",
            f"{EKS}/1.34/amazon-linux-2023/x86_64/neuron/recommended/image_id",
            f"{EKS}/1.34/amazon-linux-2023/arm64/standard/recommended/image_id",
            f"{EKS}/1.34/amazon-linux-2023/arm64/nvidia/recommended/image_id",
        ]

    def test_a_pinned_al2023_is_the_whole_name_of_its_image(self):
        assert parameters("al2023", "1.34", "v20260901")[-1] == (
            f"{EKS}/1.34/amazon-linux-2023/arm64/nvidia/amazon-eks-node-al2023-arm64-nvidia-1.34-v20260901/image_id"
        )

    def test_bottlerocket_has_nvidia_for_both_architectures(self):
        assert parameters("bottlerocket", "1.34") == [
            f"{BOTTLEROCKET}/aws-k8s-1.34/x86_64/latest/image_id",
            f"{BOTTLEROCKET}/aws-k8s-1.34-nvidia/x86_64/latest/image_id",
            f"{BOTTLEROCKET}/aws-k8s-1.34/arm64/latest/image_id",
            f"{BOTTLEROCKET}/aws-k8s-1.34-nvidia/arm64/latest/image_id",
        ]

    @pytest.mark.parametrize("version", ["v1.64.0", "1.64.0"])
    def test_a_pinned_bottlerocket_has_no_v_in_its_path(self, version):
        assert parameters("bottlerocket", "1.34", version)[0] == f"{BOTTLEROCKET}/aws-k8s-1.34/x86_64/1.64.0/image_id"

    @pytest.mark.parametrize("year", ["2019", "2022", "2025"])
    def test_windows_is_core(self, year):
        assert parameters(f"windows{year}", "1.36") == [f"{WINDOWS}-{year}-English-Core-EKS_Optimized-1.36/image_id"]

    def test_windows_2025_needs_kubernetes_1_35(self):
        assert parameters("windows2025", "1.34") == []

    def test_al2_ended_with_kubernetes_1_32(self):
        assert parameters("al2", "1.33") == []
        assert parameters("al2", "1.32") == [
            f"{EKS}/1.32/amazon-linux-2/recommended/image_id",
            f"{EKS}/1.32/amazon-linux-2-gpu/recommended/image_id",
            f"{EKS}/1.32/amazon-linux-2-arm64/recommended/image_id",
        ]

    def test_a_pinned_al2_is_the_whole_name_of_its_image(self):
        assert parameters("al2", "1.32", "v20251101")[1:] == [
            f"{EKS}/1.32/amazon-linux-2-gpu/amazon-eks-gpu-node-1.32-v20251101/image_id",
            f"{EKS}/1.32/amazon-linux-2-arm64/amazon-eks-arm64-node-1.32-v20251101/image_id",
        ]

    def test_only_al2_is_frozen(self):
        frozen = {
            family for family in ALIAS_FAMILIES for stream in streams_of_alias(family, "1.32") if stream.is_frozen
        }

        assert frozen == {"al2"}

    def test_a_family_that_nobody_knows_has_no_streams(self):
        assert streams_of_alias("al2027", "1.40") == ()


class TestImages:
    @pytest.mark.parametrize(
        ("name", "stream"),
        [
            ("amazon-eks-node-al2023-arm64-nvidia-1.34-v20260923", ("al2023", "1.34", "arm64", "nvidia")),
            ("amazon-eks-node-1.32-v20251101", ("al2", "1.32", "x86_64", "standard")),
            ("amazon-eks-gpu-node-1.32-v20251101", ("al2", "1.32", "x86_64", "gpu")),
            ("amazon-eks-arm64-node-1.32-v20251101", ("al2", "1.32", "arm64", "standard")),
            ("bottlerocket-aws-k8s-1.34-x86_64-v1.64.0-1a2b3c4d", ("bottlerocket", "1.34", "x86_64", "standard")),
            ("bottlerocket-aws-k8s-1.34-fips-aarch64-v1.64.0-1a2b3c4d", ("bottlerocket", "1.34", "arm64", "fips")),
            (
                "Windows_Server-2022-English-Full-EKS_Optimized-1.34-2026.09.15",
                ("windows2022", "1.34", "x86_64", "Full"),
            ),
        ],
    )
    def test_tell_their_stream_by_their_name(self, name, stream):
        family, minor, arch, variant = stream

        assert stream_of_image(name) == ImageStream(family=family, minor=minor, arch=arch, variant=variant)

    @pytest.mark.parametrize("name", ["", "golden-v20260923", "amazon-eks-node-al2023", "my-bottlerocket-aws-k8s-1.34"])
    def test_of_others_tell_none(self, name):
        assert stream_of_image(name) is None


class TestParameters:
    @pytest.mark.parametrize(
        ("name", "version"),
        [
            (f"{EKS}/1.34/amazon-linux-2023/x86_64/standard/recommended", LATEST),
            (f"{BOTTLEROCKET}/aws-k8s-1.34-fips/x86_64/latest/image_id", LATEST),
            (f"{WINDOWS}-2022-English-Full-EKS_Optimized-1.34/image_id", LATEST),
            (f"{BOTTLEROCKET}/aws-k8s-1.34/x86_64/1.64.0/image_id", "1.64.0"),
        ],
    )
    def test_tell_their_version(self, name, version):
        found = stream_of_parameter(name)

        assert found is not None
        assert found[1] == version

    @pytest.mark.parametrize("name", ["", "/golden/id", f"{EKS}/1.34/amazon-linux-2023", "/aws/service/ecs/x"])
    def test_of_others_tell_nothing(self, name):
        assert stream_of_parameter(name) is None

    @given(
        st.sampled_from(sorted(ALIAS_FAMILIES)),
        st.integers(20, 60).map(lambda number: f"1.{number}"),
        st.sampled_from([LATEST, "v20260901"]),
    )
    def test_whatever_an_alias_follows_is_known_again_by_its_name(self, family, minor, version):
        for stream in streams_of_alias(family, minor):
            told = {"bottlerocket": version.lstrip("v")}.get(family, version)
            expected = (stream, LATEST if family.startswith("windows") else told)

            assert stream_of_parameter(parameter_of(stream, version)) == expected
