# As a decorator; the loss is computed at the end, on the CPU, where all logits are.
import torch
import torch.nn.functional as F


@torch.inference_mode()
def evaluate(model, loader, device):
    training = model.training
    try:
        model.eval()
        pairs = [(model(x.to(device)).cpu(), y) for x, y in loader]
    finally:
        model.train(training)
    logits, y = (torch.cat(each) for each in zip(*pairs))
    return float(F.cross_entropy(logits, y)), logits
