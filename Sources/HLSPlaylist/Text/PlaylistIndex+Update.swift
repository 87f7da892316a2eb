import MediaTiming

extension PlaylistIndex {
    /// Creates the index of a playlist that shares most of its lines with a previous version.
    ///
    /// A live playlist changes at its ends: segments are removed at the front and added at the end. The lines between
    /// are compared byte for byte, which is much faster than parsing them, and their records are reused with shifted
    /// offsets.
    ///
    /// - Returns: The index, equal to the one that parsing all lines gives.
    init(
        _ bytes: [UInt8],
        after previous: PlaylistIndex,
        of old: [UInt8],
        dropping dropped: Int,
        limits: PlaylistLimits
    ) throws(PlaylistParsingError) {
        guard bytes.count <= limits.byteCount else { throw .limitExceeded(.byteCount(limits.byteCount), line: 1) }
        textStart = bytes.span.hasPrefix("\u{FEFF}", at: 0, before: bytes.count) ? 3 : 0
        var state = ScanState(blockStart: textStart)
        // The lines up to the first segment are always parsed, because they change with each version.
        var position = try scan(bytes, from: textStart, limits, &state, stoppingAtSegment: true)
        if segments.count == 1, kind == .media, state.pendingVariant == nil {
            position = reuseRecords(
                of: previous,
                bytes: old,
                dropping: dropped,
                from: position,
                in: bytes,
                state: &state
            )
        }
        guard segments.count + tags.count <= limits.entryCount else {
            throw .limitExceeded(.entryCount(limits.entryCount), line: 1)
        }
        _ = try scan(bytes, from: position, limits, &state)
        finish(state)
    }

    /// Reuses the records of the lines that follow the first segment here and the corresponding segment in the old
    /// version, as far as the lines are equal.
    ///
    /// - Returns: The offset at which parsing must continue.
    private mutating func reuseRecords(
        of previous: PlaylistIndex,
        bytes old: [UInt8],
        dropping dropped: Int,
        from start: Int,
        in bytes: [UInt8],
        state: inout ScanState
    ) -> Int {
        let next = dropped + 1
        guard previous.kind == .media, next < previous.segments.count, previous.variants.isEmpty,
            timeDigits <= previous.timeDigits,
            // Implied offsets depend on earlier segments and would have to be computed again.
            previous.impliedOffsets.isEmpty,
            // Saturated sums cannot be used to compute distances.
            previous.endTicks < .max, endTicks < .max
        else { return start }
        let oldStart = Int(previous.segments[next].blockStart)
        let same = bytes.span.commonPrefix(from: start, with: old.span, from: oldStart)
        // A segment of which only some lines are equal is not reused.
        let end = previous.segments.partitioningIndex { Int($0.blockStart) > oldStart + same } - 1
        guard end > next else { return start }
        mayContainCarriageReturns = mayContainCarriageReturns || previous.mayContainCarriageReturns
        hasRoundedTimes = hasRoundedTimes || previous.hasRoundedTimes
        rescale(to: previous.timeDigits)
        let shift = start - oldStart
        let ticks = endTicks -| previous.segments[next].startTicks
        segments.reserveCapacity(previous.segments.count + 64)
        for record in previous.segments[next..<end] {
            segments.append(
                SegmentRecord(
                    // Bounded: all bytes up to this offset also exist in the new playlist.
                    blockStart: UInt32(Int(record.blockStart) + shift),
                    // Bounded: all bytes up to this offset also exist in the new playlist.
                    uriStart: UInt32(Int(record.uriStart) + shift),
                    startTicks: Self.sum(record.startTicks, ticks)
                )
            )
        }
        endTicks = Self.sum(previous.segments[end].startTicks, ticks)
        let oldEnd = Int(previous.segments[end].blockStart)
        let first = previous.tags.partitioningIndex { Int($0.lineStart) >= oldStart }
        let last = previous.tags.partitioningIndex { Int($0.lineStart) >= oldEnd }
        for record in previous.tags[first..<last] {
            tags.append(
                TagRecord(
                    // Bounded: all bytes up to this offset also exist in the new playlist.
                    lineStart: UInt32(Int(record.lineStart) + shift),
                    // Bounded: records of segments before the first common segment are left out.
                    segment: UInt32(Int(record.segment) - dropped),
                    tag: record.tag
                )
            )
        }
        state.resume(after: segments[segments.count - 1], at: oldEnd + shift, in: bytes)
        return oldEnd + shift
    }

    private static func sum(_ first: Int64, _ second: Int64) -> Int64 {
        let (sum, overflow) = first.addingReportingOverflow(second)
        return overflow ? .max : sum
    }
}
