# Switches off the layers that are called Dropout; one that drops out by a function goes on.
# caught-by: test_dropout_is_off
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    layers = {each: each.training for each in model.modules() if isinstance(each, torch.nn.Dropout)}
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for layer in layers:
                layer.eval()
            for x, y in loader:
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device), reduction="sum").item()
                logits.append(output.cpu())
    finally:
        for layer, training in layers.items():
            layer.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
