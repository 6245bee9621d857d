// Karpenter runs the real controllers on the kwok provider, with one thing added:
// images. kwok's provider never reports drift, and drift of the node image is what
// the tests are about. Here the annotation driftgate.dev/image of a KWOKNodeClass
// is the image that its nodes should run: a new NodeClaim gets it as
// status.imageID, and every NodeClaim with another one is drifted as AMIDrift.
package main

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

const (
	imageAnnotation                           = "driftgate.dev/image"
	amiDrift        cloudprovider.DriftReason = "AMIDrift" // the AWS provider's name for it
)

type imageProvider struct {
	*kwok.CloudProvider
	reader client.Reader
}

func (p imageProvider) Create(ctx context.Context, claim *v1.NodeClaim) (*v1.NodeClaim, error) {
	created, err := p.CloudProvider.Create(ctx, claim)
	if err != nil {
		return nil, err
	}
	created.Status.ImageID, err = p.wantedImage(ctx, claim)
	return created, err
}

func (p imageProvider) IsDrifted(ctx context.Context, claim *v1.NodeClaim) (cloudprovider.DriftReason, error) {
	image, err := p.wantedImage(ctx, claim)
	if err != nil || image == claim.Status.ImageID {
		return "", err
	}
	return amiDrift, nil
}

// wantedImage is an error for a NodeClass that is gone: Karpenter then keeps what it knew.
func (p imageProvider) wantedImage(ctx context.Context, claim *v1.NodeClaim) (string, error) {
	class := &v1alpha1.KWOKNodeClass{}
	err := p.reader.Get(ctx, client.ObjectKey{Name: claim.Spec.NodeClassRef.Name}, class)
	return class.Annotations[imageAnnotation], err
}

func main() {
	ctx, op := operator.NewOperator()
	instanceTypes, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		panic(err)
	}
	provider := imageProvider{kwok.NewCloudProvider(ctx, op.GetClient(), instanceTypes), op.GetClient()}
	decorated := overlay.Decorate(provider, op.GetClient(), op.InstanceTypeStore)
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated)
	op.WithControllers(ctx, controllers.NewControllers(
		ctx, op.Manager, op.Clock, op.GetClient(), op.EventRecorder,
		decorated, provider, cluster, op.InstanceTypeStore,
	)...).Start(ctx)
}
