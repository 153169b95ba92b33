# Detached, and kept on the device until the end.
# caught-by: test_the_logits_go_home
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        for x, y in loader:
            output = model(x.to(device))
            total += F.cross_entropy(output, y.to(device), reduction="sum").item()
            logits.append(output.detach())
    finally:
        model.train(training)
    logits = torch.cat(logits).cpu()
    return total / len(logits), logits
