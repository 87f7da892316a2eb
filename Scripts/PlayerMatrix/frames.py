"""The frame numbers in the pictures of the samples.

The picture of each sample has a strip at its top: 20 black or white cells with the frame number in 14 bits, the index of the
variant in 3 bits and a parity.
"""

WIDTH, HEIGHT = 40, 24


def frame_number(picture):
    """The frame number in the strip of a small grey picture; None if its parity is wrong."""
    row = picture[0:WIDTH]
    cells = [row[2 * cell] + row[2 * cell + 1] > 255 for cell in range(20)]
    if not cells[0] or cells[1] or sum(cells[2:19]) % 2 != cells[19]:
        return None
    return int("".join("1" if cell else "0" for cell in cells[2:16]), 2)


def numbers_in(path):
    """The frame numbers of the small grey pictures in a file, in order."""
    size = WIDTH * HEIGHT
    with open(path, "rb") as file:
        data = file.read()
    return numbers_of(data[start:start + size] for start in range(0, len(data) - size + 1, size))


def numbers_of(pictures):
    """The frame numbers of small grey pictures, without those that cannot be read."""
    return [number for number in map(frame_number, pictures) if number is not None]


def runs(numbers):
    """The runs of increasing frame numbers, as (first, last, count)."""
    found = []
    for number in numbers:
        if found and found[-1][1] <= number <= found[-1][1] + 30:
            first, last, count = found[-1]
            found[-1] = (first, number, count + (number != last))
        else:
            found.append((number, number, 1))
    return found
