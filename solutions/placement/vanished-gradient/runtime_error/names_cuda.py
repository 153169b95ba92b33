# Asks for CUDA instead of asking the images where they are.
# caught-by: test_it_learns_on_another_device
import torch
import torch.nn.functional as F


def learn_perturbation(model, images, labels, start, *, steps, make_optimizer):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    delta = start.to(device, copy=True).requires_grad_()
    optimizer = make_optimizer([delta])
    for _ in range(steps):
        loss = -F.cross_entropy(model(images + delta), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return delta.detach()
