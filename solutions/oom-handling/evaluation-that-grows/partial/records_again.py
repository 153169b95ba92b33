# Switches by hand, and back to what it takes for normal: a caller in `no_grad` is recording now.
# caught-by: test_modes_are_restored
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    torch.set_grad_enabled(False)
    total, logits = 0.0, []
    try:
        for x, y in loader:
            output = model(x.to(device))
            total += F.cross_entropy(output, y.to(device), reduction="sum").item()
            logits.append(output.cpu())
    finally:
        model.train(training)
        torch.set_grad_enabled(True)
    logits = torch.cat(logits)
    return total / len(logits), logits
