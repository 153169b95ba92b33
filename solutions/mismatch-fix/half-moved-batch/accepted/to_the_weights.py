# Goes where the weights are: a model that was put elsewhere takes its batch along.
import torch
import torch.nn.functional as F


def train_step(model, batch, optimizer, device):
    home = next(model.parameters()).device
    images, labels = (torch.empty_like(each, device=home).copy_(each) for each in batch)
    loss = F.cross_entropy(model(images), labels)
    parameters = [each for group in optimizer.param_groups for each in group["params"]]
    for parameter, grad in zip(parameters, torch.autograd.grad(loss, parameters)):
        parameter.grad = grad
    optimizer.step()
    return loss.detach()
