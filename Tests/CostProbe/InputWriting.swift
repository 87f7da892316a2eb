import CostOperations

/// Returns the bytes of a number in big-endian order.
func bigEndian(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
}

/// Returns the bytes of a number in little-endian order.
func littleEndian(_ value: Int, _ byteCount: Int) -> [UInt8] { bigEndian(value, byteCount).reversed() }

/// Returns the given number of zero bytes.
func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// Pads a media file so that the fuzz target has all of its bytes and knows its length.
///
/// The fuzz target derives the declared length from the last byte, and the size of the first request from the parity of
/// the number of bytes.
func wholeFile(_ bytes: [UInt8]) -> [UInt8] { bytes + zeros(bytes.count.isMultiple(of: 2) ? 1 : 2) }

/// Pads a media file so that the fuzz target requests it in parts.
func fileInParts(_ bytes: [UInt8]) -> [UInt8] { bytes + zeros(bytes.count.isMultiple(of: 2) ? 2 : 1) }
