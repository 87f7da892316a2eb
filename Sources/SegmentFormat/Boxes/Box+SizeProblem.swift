import MediaTiming

/// The sizes of boxes that are impossible, as clauses for reports.
extension BoxHeader {
    /// Returns a clause about a box at the top level that exceeds the file.
    ///
    /// - Parameters:
    ///   - position: The offset of the box in the file.
    ///   - length: The length of the file in bytes; `nil` if it is unknown.
    /// - Returns: The clause; `nil` if the box is within the file, or if that is unknown.
    func sizeProblem(at position: Int64, inFileOfLength length: Int64?) -> String? {
        guard let size = self.length, let length, size > length -| position else { return nil }
        return "the box \(type) at byte \(position) has a size of \(ByteCount(size)), which exceeds the file"
    }
}

extension Box {
    /// The boxes of a movie box whose contents are examined.
    private static let examinedTypes: Set<FourCharacterCode> = [.moov, .trak, .mdia, .minf, .stbl]
    /// The maximum number of boxes within each other.
    private static let maximumDepth = 8

    /// Returns a clause about the first box within a movie box whose size is impossible.
    ///
    /// - Parameters:
    ///   - bytes: The bytes in which the box is.
    ///   - depth: The number of boxes that contain the box.
    /// - Returns: The clause; `nil` if there is no such box.
    func firstSizeProblem(in bytes: Span<UInt8>, depth: Int = 0) -> String? {
        guard depth < Self.maximumDepth, Self.examinedTypes.contains(type) else { return nil }
        var boxes = BoxIterator(payload, in: bytes)
        while let box = boxes.next(bytes) {
            if box.isTruncated {
                return "the box \(box.type) has a size that exceeds the box \(type), which contains it"
            }
            if let problem = box.firstSizeProblem(in: bytes, depth: depth + 1) { return problem }
        }
        guard boxes.remainder.count >= 8 else { return nil }
        return "a box in the box \(type) has a size that is less than that of its header"
    }
}
