import MediaTiming

/// An iterator over the references of segment indexes and of the indexes to which they refer.
struct SegmentIndexIterator {
    private var addedIndexes: [SegmentIndex] = []
    /// The remaining references in reverse order.
    private var pending: [SegmentIndex.Reference] = []
    private var end: Int64?
    private var processedCount = 0
    /// The number of references that were read from nested indexes.
    private var nestedReferenceCount = 0
    private var firstStart: Int64?
    private var startCount = 0
    /// A Boolean value that indicates whether there was only one index, with several references, so that it is assumed to
    /// be that of the whole file.
    ///
    /// Some packagers write an index before each fragment, which does not describe the fragments that follow.
    private(set) var coversFile = false

    /// The maximum number of references of all indexes together.
    private static let maximumReferenceCount = 500_000

    /// A Boolean value that indicates whether no index was added since the last call of `start(for:firstOffset:)`.
    var isEmpty: Bool { addedIndexes.isEmpty }

    mutating func add(_ index: SegmentIndex) {
        if addedIndexes.count < Movie.maximumTrackCount { addedIndexes.append(index) }
    }

    /// Starts with one of the added indexes, preferably that of the given track, and returns whether there was one.
    mutating func start(for track: UInt32?, firstOffset start: Int64?) -> Bool {
        guard let index = addedIndexes.first(where: { $0.referenceID == track }) ?? addedIndexes.first else {
            return false
        }
        addedIndexes.removeAll()
        pending = index.references.reversed()
        end = index.references.last?.byteRange.end
        firstStart = index.references.count == 1 ? start : nil
        startCount += 1
        coversFile = startCount == 1 && index.references.count > 1
        return true
    }

    /// Returns the end of the media to which the last index refers, once all references are processed; then resets it.
    mutating func removeEnd() -> Int64? {
        defer { end = nil }
        return end
    }

    /// Processes the references as far as nested indexes are loaded; returns a request for the next index, or `nil` at
    /// the end.
    mutating func advance(_ file: LoadedFileParts, _ builder: inout MediaFileSegmentBuilder) -> MediaFileIndexer.State?
    {
        while let reference = pending.last {
            guard processedCount < Self.maximumReferenceCount else {
                pending.removeAll()
                break
            }
            let position = reference.byteRange.start
            if reference.isIndex {
                guard let found = file.loadedBytes(at: position, count: 32) else {
                    return file.request(at: position, count: 8_192)
                }
                let length = BoxHeader(found.bytes.span, at: found.offset)?.length ?? 0
                if length > 32, length <= 1 << 20 {
                    guard let whole = file.loadedBytes(at: position, count: Int(length)) else {
                        return file.request(at: position, count: Int(length))
                    }
                    processNestedIndex(whole, at: position)
                } else {
                    // The reference does not point to an index; it is processed as media.
                    processReference(reference, &builder)
                }
            } else {
                processReference(reference, &builder)
            }
        }
        return nil
    }

    private mutating func processNestedIndex(_ found: LoadedFileParts.LoadedBytes, at position: Int64) {
        pending.removeLast()
        processedCount += 1
        guard
            let index = try? SegmentIndex(
                found.bytes.span,
                at: found.offset,
                fileOffset: position -| Int64(found.offset)
            )
        else { return }
        // Nested indexes that several references share are read again for each reference.
        nestedReferenceCount += index.references.count
        guard nestedReferenceCount <= Self.maximumReferenceCount else { return pending.removeAll() }
        // A reference to the index itself or to preceding bytes would cause a loop.
        let following = index.references.filter { $0.byteRange.start > position }
        guard pending.count + following.count <= Self.maximumReferenceCount else { return }
        pending += following.reversed()
    }

    private mutating func processReference(
        _ reference: SegmentIndex.Reference,
        _ builder: inout MediaFileSegmentBuilder
    ) {
        pending.removeLast()
        processedCount += 1
        let range = reference.byteRange
        builder.appendFragment(
            reference.timeRange,
            from: firstStart ?? range.start,
            to: range.end,
            canStartSegment: reference.accessPointType != 0 || reference.startsWithAccessPoint || !builder.isEmpty
        )
        firstStart = nil
    }
}
