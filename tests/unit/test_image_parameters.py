"""Which parameters a cluster's node classes follow."""

from driftgate.domain.image_parameters import names_in_use, parameters_in_use, pinned_versions, unknown_aliases
from driftgate.domain.image_streams import ImageStream
from driftgate.domain.nodepool import ImageTerm
from driftgate.domain.observation import ReadError
from tests.factories import node, node_class, nodeclaim, observation, resolved_image

AL2023 = "/aws/service/eks/optimized-ami/{}/amazon-linux-2023/{}/{}/recommended/image_id"
STANDARD = AL2023.format("1.34", "x86_64", "standard")
OWN = "/golden/al2023/image_id"


def of(*terms, images=(), kubelets=()):
    return parameters_in_use([node_class(terms=tuple(terms), images=images)], kubelets)


def alias(text):
    return ImageTerm(alias=text)


class TestAnAlias:
    def test_is_followed_for_all_that_karpenter_would_resolve_also_while_nothing_is(self):
        assert of(alias("al2023@latest"), images=None, kubelets=["v1.34.2-eks-1a2b3c4"]) == tuple(
            sorted(
                AL2023.format("1.34", arch, variant)
                for arch, variant in [
                    ("x86_64", "standard"),
                    ("x86_64", "nvidia"),
                    ("x86_64", "neuron"),
                    ("arm64", "standard"),
                    ("arm64", "nvidia"),
                ]
            )
        )

    def test_that_is_pinned_has_the_newest_followed_too(self):
        found = of(alias("al2023@v20260901"), kubelets=["v1.34.2"])

        assert STANDARD in found
        assert STANDARD.replace("recommended", "amazon-eks-node-al2023-x86_64-standard-1.34-v20260901") in found
        assert len(found) == 10

    def test_takes_the_newest_kubernetes_that_anything_shows(self):
        found = of(alias("windows2022@latest"), kubelets=["v1.9.9", "v1.33.1", "v1.34.0-eks-1", "", "unknown"])

        assert found == (
            "/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.34/image_id",
        )

    def test_whose_images_are_of_an_older_kubernetes_is_followed_for_both(self):
        found = of(alias("al2023@latest"), images=(resolved_image(),), kubelets=["v1.35.0"])

        assert {STANDARD, AL2023.format("1.35", "x86_64", "standard")} <= set(found)

    def test_of_a_cluster_where_nothing_shows_a_kubernetes_is_not_guessed(self):
        assert of(alias("al2023@latest"), images=None) == ()

    def test_without_a_version_is_nothing(self):
        assert of(alias("al2023@"), kubelets=["v1.34.2"]) == ()

    def test_of_a_family_that_nobody_knows_is_told_with_its_node_class(self):
        assert unknown_aliases([node_class(terms=(alias("al2027@latest"),)), node_class()]) == (
            "EC2NodeClass std: al2027@latest",
        )


class TestOtherTerms:
    def test_an_own_parameter_is_followed_by_its_name_or_arn(self):
        arn = "arn:aws:ssm:eu-central-1:111122223333:parameter/golden/id"

        assert of(ImageTerm(ssm_parameter=OWN), ImageTerm(ssm_parameter=arn)) == (OWN, arn)

    def test_a_public_parameter_is_one_whether_named_or_by_arn(self):
        arn = f"arn:aws:ssm:eu-central-1::parameter{STANDARD}"

        assert of(ImageTerm(ssm_parameter=arn), ImageTerm(ssm_parameter=STANDARD)) == (STANDARD,)

    def test_an_image_chosen_by_id_or_name_has_the_newest_of_its_stream_followed(self):
        fips = resolved_image("ami-1", "bottlerocket-aws-k8s-1.34-fips-aarch64-v1.64.0-1a2b3c4d")
        full = resolved_image("ami-2", "Windows_Server-2022-English-Full-EKS_Optimized-1.34-2026.09.15")

        assert of(ImageTerm(id="ami-1"), ImageTerm(name="x*"), images=(fips, full)) == (
            "/aws/service/ami-windows-latest/Windows_Server-2022-English-Full-EKS_Optimized-1.34/image_id",
            "/aws/service/bottlerocket/aws-k8s-1.34-fips/arm64/latest/image_id",
        )

    def test_an_image_of_ones_own_follows_nothing(self):
        assert of(ImageTerm(tags={"team": "shop"}), images=(resolved_image("ami-1", "golden-v3"),)) == ()


class TestWhatALookStores:
    def seen(self, *errors):
        members = [(nodeclaim(), node(kubelet_version="v1.34.2"))]
        return observation(members, errors=tuple(ReadError(resource=resource) for resource in errors))

    def test_is_what_the_node_classes_follow_now(self):
        assert STANDARD in names_in_use(self.seen(), [OWN])
        assert OWN not in names_in_use(self.seen(), [OWN])

    def test_keeps_what_was_known_where_node_classes_or_nodes_could_not_be_read(self):
        for resource in ("nodeclasses", "ec2nodeclasses", "nodes"):
            assert {STANDARD, OWN} <= set(names_in_use(self.seen(resource), [OWN]))

    def test_forgets_what_was_known_where_only_something_else_could_not(self):
        assert OWN not in names_in_use(self.seen("pods"), [OWN])


def test_versions_that_are_pinned_are_told_by_stream():
    pinned = STANDARD.replace("recommended", "amazon-eks-node-al2023-x86_64-standard-1.34-v20260901")

    assert pinned_versions([STANDARD, pinned, OWN]) == {ImageStream(family="al2023", minor="1.34"): "v20260901"}
