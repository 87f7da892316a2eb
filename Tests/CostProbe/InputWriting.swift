import CostOperations

/// Returns the bytes of a number, the most significant one first.
func bigEndian(_ value: Int, _ byteCount: Int) -> [UInt8] {
    (0..<byteCount).map { UInt8(truncatingIfNeeded: value >> (8 * (byteCount - 1 - $0))) }
}

/// Returns the bytes of a number, the least significant one first.
func littleEndian(_ value: Int, _ byteCount: Int) -> [UInt8] { bigEndian(value, byteCount).reversed() }

/// Returns bytes that are zero.
func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

/// Pads a media file so that its reader has all of it and knows its length.
///
/// The reader of the fuzzer takes the length and the size of the first request from the number of bytes and the last one.
func wholeFile(_ bytes: [UInt8]) -> [UInt8] { bytes + zeros(bytes.count.isMultiple(of: 2) ? 1 : 2) }

/// Pads a media file so that its reader requests it in parts.
func fileInParts(_ bytes: [UInt8]) -> [UInt8] { bytes + zeros(bytes.count.isMultiple(of: 2) ? 2 : 1) }
