# The leaf stays on the CPU and is copied in each step: the values are right, and each step waits for two copies.
# caught-by: test_it_learns_on_another_device
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    delta = start.clone().requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta.to(images.device)), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach().to(images.device)
