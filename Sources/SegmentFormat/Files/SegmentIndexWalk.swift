import MediaTiming

/// An iterator over the references of segment indexes and of the indexes to which they refer.
struct SegmentIndexWalk {
    private var waiting: [SegmentIndex] = []
    /// The remaining references in reverse order.
    private var pending: [SegmentIndex.Reference] = []
    private var end: Int64?
    private var taken = 0
    /// The number of references that were read from nested indexes.
    private var parsed = 0
    private var firstStart: Int64?

    /// The maximum number of references of all indexes together.
    private static let mostReferences = 500_000

    /// A Boolean value that indicates whether no index was added since the last call of `start(for:beginningAt:)`.
    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ index: SegmentIndex) {
        if waiting.count < Movie.mostTracks { waiting.append(index) }
    }

    /// Starts with one of the added indexes, preferably that of the given track, and returns whether there was one.
    mutating func start(for track: UInt32?, beginningAt start: Int64?) -> Bool {
        guard let index = waiting.first(where: { $0.referenceID == track }) ?? waiting.first else { return false }
        waiting.removeAll()
        pending = index.references.reversed()
        end = index.references.last?.byteRange.end
        firstStart = index.references.count == 1 ? start : nil
        return true
    }

    /// Returns the end of the media to which the last index refers, once all references are processed; then resets it.
    mutating func takeEnd() -> Int64? {
        defer { end = nil }
        return end
    }

    /// Processes the references as far as nested indexes are loaded; returns a request for the next index, or `nil` at
    /// the end.
    mutating func advance(_ file: FileBytes, _ gathering: inout PieceGathering) -> MediaFileIndex.State? {
        while let reference = pending.last {
            guard taken < Self.mostReferences else {
                pending.removeAll()
                break
            }
            let place = reference.byteRange.start
            if reference.isIndex {
                guard let found = file.found(at: place, 32) else { return file.request(place, 8_192) }
                let length = BoxHeader(found.bytes.span, at: found.offset)?.length ?? 0
                if length > 32, length <= 1 << 20 {
                    guard let whole = file.found(at: place, Int(length)) else {
                        return file.request(place, Int(length))
                    }
                    enter(whole, place)
                } else {
                    // The reference does not point to an index; it is processed as media.
                    take(reference, &gathering)
                }
            } else {
                take(reference, &gathering)
            }
        }
        return nil
    }

    private mutating func enter(_ found: FileBytes.Found, _ place: Int64) {
        pending.removeLast()
        taken += 1
        guard
            let index = try? SegmentIndex(
                found.bytes.span,
                at: found.offset,
                fileOffset: place -| Int64(found.offset)
            )
        else { return }
        // Nested indexes that several references share are read again for each reference.
        parsed += index.references.count
        guard parsed <= Self.mostReferences else { return pending.removeAll() }
        // A reference to the index itself or to preceding bytes would cause a loop.
        let behind = index.references.filter { $0.byteRange.start > place }
        guard pending.count + behind.count <= Self.mostReferences else { return }
        pending += behind.reversed()
    }

    private mutating func take(_ reference: SegmentIndex.Reference, _ gathering: inout PieceGathering) {
        pending.removeLast()
        taken += 1
        let range = reference.byteRange
        gathering.add(
            reference.timeRange,
            from: firstStart ?? range.start,
            to: range.end,
            canBegin: reference.accessPointType != 0 || reference.startsWithAccessPoint || !gathering.isEmpty
        )
        firstStart = nil
    }
}
