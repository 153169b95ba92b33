# Adds the perturbation before the loop: the sum is a tensor of its own, and each step sees the images of the first.
# caught-by: test_it_learns, test_the_optimizer_keeps_its_memory
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.to(images.device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    perturbed = images + delta
    for _ in range(steps):
        loss = -F.cross_entropy(model(perturbed), labels)
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        optimizer.step()
    return delta.detach()
