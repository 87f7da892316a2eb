import MediaTiming

/// The search for the next element of a Matroska file after damage before the first cluster: bytes that belong to no
/// element, or an element whose end is within another one.
struct MatroskaElementSearch: Sendable {
    /// The result of a step of the search.
    enum Step {
        /// More bytes are required.
        case needsBytes(MediaFileIndexer.State)
        /// The next element begins at this file offset.
        case found(Int64)
        /// There is no further element.
        case ended
    }

    /// The maximum number of bytes that all searches in a file examine, so that a file of other content is not loaded
    /// entirely.
    private static let maximumSize: Int64 = 8 << 20
    /// The number of bytes per request.
    private static let requestSize = 1 << 20
    /// The number of bytes that contain the header of an element and the identifier of its first child.
    private static let headSize = 16

    /// A clause about the first damage; `nil` if no damage was found.
    private(set) var problem: String?
    /// The number of bytes that were added to the segment before its first cluster, negative if bytes were lost, as far
    /// as the damage shows it.
    ///
    /// If bytes were replaced by others, they count as added.
    private(set) var shift: Int64 = 0

    /// The file offset at which the search continues; `nil` if no search is in progress.
    private var position: Int64?
    /// The file offset of the content of the last known element.
    private var resumePosition: Int64 = 0
    /// The file offset after the last known element.
    private var intactEnd: Int64 = 0
    /// The number of unknown elements that were skipped after the last known one.
    private var skippedElementCount = 0
    /// The maximum number of successive unknown elements; further ones are taken for damage.
    private static let maximumSkippedElementCount = 8
    /// The number of bytes that all searches have examined.
    private var searchedByteCount: Int64 = 0

    /// A Boolean value that indicates whether a search is in progress.
    var isActive: Bool { position != nil }

    /// Notes a known element, after which the next search begins.
    ///
    /// - Parameters:
    ///   - element: The header of the element.
    ///   - contentStart: The file offset of its content.
    ///   - end: The file offset after the element; `nil` if it is unknown.
    mutating func noteElement(_ element: MatroskaElement, contentStart: Int64, end: Int64?) {
        skippedElementCount = 0
        let isSegment = element.id == 0x1853_8067
        intactEnd = isSegment ? contentStart : end ?? contentStart
        // Identifiers of one byte are frequent in media, in which damage can lead.
        guard element.id > 0xFF else { return }
        // An attachment can be a Matroska file, whose elements are not those of this file.
        resumePosition = element.id == 0x1941_A469 ? intactEnd : contentStart
    }

    /// Notes an unknown element.
    ///
    /// - Returns: A Boolean value that indicates whether the element may be skipped, because only a few before it are unknown.
    mutating func noteUnknownElement() -> Bool {
        guard skippedElementCount < Self.maximumSkippedElementCount else { return false }
        skippedElementCount += 1
        return true
    }

    /// Begins a search.
    ///
    /// It begins within the last known element, because its end can be within another one after bytes were lost.
    mutating func begin() { position = resumePosition }

    /// Begins a search if an element ends after the end of the file.
    ///
    /// - Parameters:
    ///   - file: The loaded parts of the file.
    ///   - end: The end of the last element.
    /// - Returns: A Boolean value that indicates whether a search has begun.
    mutating func begin(afterEndOf file: LoadedFileParts, at end: Int64) -> Bool {
        guard let length = file.length, end > length, resumePosition < length else { return false }
        begin()
        return true
    }

    /// Continues the search.
    ///
    /// - Parameters:
    ///   - file: The loaded parts of the file.
    ///   - findsSegment: A Boolean value that indicates whether the segment was not found yet.
    /// - Returns: The result.
    mutating func advance(in file: LoadedFileParts, findsSegment: Bool) -> Step {
        guard var offset = position else { return .ended }
        while !file.ends(at: offset), searchedByteCount < Self.maximumSize {
            guard let found = file.loadedBytes(at: offset, count: Self.headSize) else {
                position = offset
                return .needsBytes(file.request(at: offset, count: Self.requestSize))
            }
            guard found.count > 0 else { break }
            let isEnd = file.length.map { offset +| Int64(found.count) >= $0 } ?? false
            // The header of an element can continue in the next part of the file.
            let count = isEnd ? found.count : max(1, found.count - Self.headSize + 1)
            let range = found.offset..<min(found.bytes.count, found.offset + count)
            let candidates = Candidates(fileOffset: offset -| Int64(found.offset), findsSegment: findsSegment)
            if let index = candidates.first(in: range, of: found.bytes.span, fileLength: file.length) {
                let start = candidates.fileOffset +| Int64(index)
                searchedByteCount +|= Int64(index - range.lowerBound)
                end(at: start, isInSegment: !findsSegment)
                return .found(start)
            }
            offset +|= Int64(count)
            searchedByteCount +|= Int64(count)
        }
        position = nil
        if let length = file.length, intactEnd < length {
            noteProblem("no element was found after byte \(intactEnd)")
        }
        return .ended
    }

    /// Ends a search at the next element, and notes the damage before it.
    private mutating func end(at start: Int64, isInSegment: Bool) {
        position = nil
        let distance = start -| intactEnd
        if isInSegment { shift +|= distance }
        noteProblem(
            distance >= 0
                ? "\(ByteCount(distance)) at byte \(intactEnd) belong to no element"
                : "an element has a size that exceeds the beginning of the next one at byte \(start)"
        )
    }

    /// Notes damage, of which only the first is reported.
    private mutating func noteProblem(_ clause: String) { problem = problem ?? clause }
}

extension MatroskaElementSearch {
    /// The elements with which reading can continue.
    private struct Candidates {
        /// The file offset of the first of the loaded bytes.
        let fileOffset: Int64
        /// A Boolean value that indicates whether the segment itself was not found yet.
        let findsSegment: Bool

        /// Returns the index of the first element.
        ///
        /// - Parameters:
        ///   - range: The indices at which an element can begin.
        ///   - bytes: The loaded bytes.
        ///   - fileLength: The length of the file; `nil` if it is unknown.
        /// - Returns: The index; `nil` if no element begins in the range.
        /// - Complexity: O(*n*) in the length of the range.
        func first(in range: Range<Int>, of bytes: Span<UInt8>, fileLength: Int64?) -> Int? {
            // The identifiers of all elements but the smallest ones begin with these four bits.
            for index in range where bytes[index] & 0xF0 == 0x10 {
                guard let element = MatroskaElement(bytes, at: index, end: bytes.count), element.isTopLevel,
                    !isReferenceToElement(at: index, bytes)
                else { continue }
                let start = index + element.headerLength
                switch element.id {
                case 0x1853_8067: if findsSegment { return index }
                case 0x1A45_DFA3: continue
                case 0x1F43_B675: if beginsCluster(at: start, bytes) { return index }
                default:
                    guard let length = element.length, length > 0 else { continue }
                    let end = fileOffset +| Int64(start) +| length
                    if fileLength.map({ end <= $0 }) ?? true { return index }
                }
            }
            return nil
        }

        /// Returns a Boolean value that indicates whether the content of a cluster begins at an index.
        private func beginsCluster(at index: Int, _ bytes: Span<UInt8>) -> Bool {
            // The timestamp, the checksum, the position, the size of the previous cluster, and unused bytes.
            guard let child = MatroskaElement(bytes, at: index, end: bytes.count) else { return false }
            return [0xE7, 0xBF, 0xA7, 0xAB, 0xEC].contains(child.id)
        }

        /// Returns a Boolean value that indicates whether an identifier is the content of an entry of the list of elements
        /// (`SeekID`, RFC 9559 §5.1.1.1.1).
        private func isReferenceToElement(at index: Int, _ bytes: Span<UInt8>) -> Bool {
            for headerLength in 3...10 where headerLength <= index {
                guard let header = MatroskaElement(bytes, at: index - headerLength, end: index) else { continue }
                if header.id == 0x53AB, header.headerLength == headerLength, header.length == 4 { return true }
            }
            return false
        }
    }
}
