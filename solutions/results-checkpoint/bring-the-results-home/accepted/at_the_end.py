# All logits stay on the device until the end, and come home in one trip as they are; NumPy's own copy breaks the sharing.
import numpy as np
import torch


def collect(model, loader, device):
    batches = [(model(x.to(device)).detach(), y) for x, y in loader]
    logits, labels = (torch.cat(each) for each in zip(*batches))
    chances = logits.cpu().float().softmax(1)
    weights = {name: np.array(each.float().numpy(force=True)) for name, each in model.named_parameters()}

    classes = chances.shape[1]
    cells = torch.bincount(labels * classes + chances.argmax(1), minlength=classes**2).view(classes, classes)
    metrics = {
        "samples": len(labels),
        "accuracy": cells.trace().item() / len(labels),
        "confusion": cells.tolist(),
    }
    return chances.numpy(), labels.numpy(), weights, metrics
