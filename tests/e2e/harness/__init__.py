"""A real control plane for tests, on this machine, from `tests/e2e/build.py`'s programs.

    with ControlPlane() as plane:                  # etcd, kube-apiserver, Karpenter on kwok: 5 s, 450 MB
        api = plane.api("admin")                   # or "driftgate": in that group, without any right
        create_nodeclass(api)
        create_nodepool(api, "app")                # behind a shut gate
        create_drifted_nodes(api, "app", 8)        # 4 s
        plane.kubeconfig("driftgate")              # a file, for clients and kubectl

    with AwsWorld() as aws:                        # moto; then Karpenter's AWS provider on it
        with ControlPlane(karpenter="karpenter-aws", env=aws.settings) as plane: ...

    with Oracle() as oracle:                       # what Karpenter's own code says of a list of budgets
        oracle.ask(budgets, nodes, at)["must"]["Drifted"]

Fixtures are in `fixtures.py`. `controlplane.py` starts and stops, `processes.py` sees to it
that nothing is left behind, `kubelet.py` plays the machines, `scenario.py` sets the scene.
"""
