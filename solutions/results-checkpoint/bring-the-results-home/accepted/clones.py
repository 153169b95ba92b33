# A clone of each parameter is nobody's but ours; the logits are cast on the CPU, after half of the bytes have crossed.
import numpy as np
import torch


def home(tensor):
    return tensor.detach().clone().cpu().to(torch.float32)


def collect(model, loader, device):
    batches = [(home(model(x.to(device))).softmax(dim=1), y) for x, y in loader]
    chances, classes = (torch.cat(each).numpy() for each in zip(*batches))
    guesses = np.argmax(chances, axis=1)
    kinds = range(chances.shape[1])
    metrics = {
        "samples": chances.shape[0],
        "accuracy": float(np.mean(guesses == classes)),
        "confusion": [[int(((classes == i) & (guesses == j)).sum()) for j in kinds] for i in kinds],
    }
    return chances, classes, {name: home(each).numpy() for name, each in model.named_parameters()}, metrics
