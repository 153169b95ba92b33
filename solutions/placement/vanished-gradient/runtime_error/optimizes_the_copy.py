# Hands the moved tensor to the optimizer: `to` is recorded by autograd, so it is no leaf, and the optimizer refuses it.
# caught-by: test_it_learns_on_another_device
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.clone().requires_grad_().to(images.device)
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
