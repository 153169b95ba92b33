# Makes a list of the loader: all batches are in the CPU's memory at once.
# caught-by: test_memory_stays_flat
import torch
import torch.nn.functional as F


def evaluate(model, loader, device):
    training = model.training
    model.eval()
    total, logits = 0.0, []
    try:
        with torch.no_grad():
            for x, y in list(loader):
                output = model(x.to(device))
                total += F.cross_entropy(output, y.to(device), reduction="sum").item()
                logits.append(output.cpu())
    finally:
        model.train(training)
    logits = torch.cat(logits)
    return total / len(logits), logits
