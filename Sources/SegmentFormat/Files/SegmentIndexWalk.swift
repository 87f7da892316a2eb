import MediaTiming

/// Goes through the references of segment indexes, and of those that they name.
struct SegmentIndexWalk {
    private var waiting: [SegmentIndex] = []
    /// The references still to be taken, the next one last.
    private var pending: [SegmentIndex.Reference] = []
    private var end: Int64?
    private var taken = 0
    /// The number of references that were read from inner indexes.
    private var parsed = 0
    private var firstStart: Int64?

    /// References of all indexes together that are taken.
    private static let mostReferences = 500_000

    /// Whether no index was read since the last was started.
    var isEmpty: Bool { waiting.isEmpty }

    mutating func add(_ index: SegmentIndex) {
        if waiting.count < Movie.mostTracks { waiting.append(index) }
    }

    /// Begins with one of the indexes that were added, best that of a track; gives whether there was one.
    mutating func start(for track: UInt32?, beginningAt start: Int64?) -> Bool {
        guard let index = waiting.first(where: { $0.referenceID == track }) ?? waiting.first else { return false }
        waiting.removeAll()
        pending = index.references.reversed()
        end = index.references.last?.byteRange.end
        firstStart = index.references.count == 1 ? start : nil
        return true
    }

    /// Where the media that the indexes name ends, once all references were taken.
    mutating func takeEnd() -> Int64? {
        defer { end = nil }
        return end
    }

    /// Takes the references, as far as indexes below are there; gives what has to be loaded.
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
                    // Something else stands there: the reference is taken as media.
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
        // Indexes that several references name are read again for each of them.
        parsed += index.references.count
        guard parsed <= Self.mostReferences else { return pending.removeAll() }
        // An index names what lies behind it, never itself.
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
