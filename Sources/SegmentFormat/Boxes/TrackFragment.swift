import MediaTiming

/// A track fragment, `traf`: the values in its header, and its runs of samples (ISO/IEC 14496-12 §8.8.6 to §8.8.8, §8.8.12).
package struct TrackFragment {
    /// The values of samples that have none of their own.
    package struct Defaults {
        /// The duration of a sample, in units of the track; `nil` where neither the fragment nor the movie has one.
        package let duration: UInt32?
        /// The number of bytes of a sample; `nil` where neither the fragment nor the movie has one.
        package let size: UInt32?
        /// The flags of a sample (§8.8.3.1); `nil` where neither the fragment nor the movie has any.
        package let flags: UInt32?
    }

    /// The identifier of the track.
    package let trackID: UInt32
    /// The values of samples that have none of their own.
    package let defaults: Defaults
    /// The decode time of the first sample, in units of the track (`tfdt`); `nil` where the fragment has none.
    package let baseDecodeTime: UInt64?
    /// A Boolean value that indicates whether the data of the track are counted from the start of the movie fragment.
    private let isCountedFromFragment: Bool
    private let payload: Range<Int>

    /// Reads the header of a track fragment.
    ///
    /// - Parameters:
    ///   - box: The box `traf`.
    ///   - bytes: The bytes that the box was found in.
    ///   - movieDefaults: Returns the defaults that the movie has for a track (`trex`).
    /// - Throws: ``MediaFormatError`` where there is no whole `tfhd`.
    package init(
        _ box: Box,
        _ bytes: Span<UInt8>,
        movieDefaults: (_ trackID: UInt32) -> Movie.FragmentDefaults?
    ) throws(MediaFormatError) {
        guard let header = box.child(.tfhd, bytes) else { throw .missing("tfhd") }
        var (_, flags, cursor) = header.fields(bytes)
        trackID = cursor.uint32(bytes)
        let movie = movieDefaults(trackID)
        // An explicit offset counts from the start of a file of which a segment may be a part; packagers write that of `moof`.
        if flags & 0x1 != 0 { cursor.skip(8) }
        if flags & 0x2 != 0 { cursor.skip(4) }
        defaults = Defaults(
            duration: flags & 0x8 != 0 ? cursor.uint32(bytes) : movie?.sampleDuration,
            size: flags & 0x10 != 0 ? cursor.uint32(bytes) : movie?.sampleSize,
            flags: flags & 0x20 != 0 ? cursor.uint32(bytes) : movie?.sampleFlags
        )
        guard !cursor.isPastEnd else { throw .truncated("tfhd") }
        isCountedFromFragment = flags & 0x2_0001 != 0
        payload = box.payload
        baseDecodeTime = box.child(.tfdt, bytes).flatMap { Self.decodeTime($0, bytes) }
    }

    private static func decodeTime(_ box: Box, _ bytes: Span<UInt8>) -> UInt64? {
        var (version, _, cursor) = box.fields(bytes)
        let value = cursor.unsigned(version == 0 ? 4 : 8, bytes)
        return cursor.isPastEnd ? nil : value
    }

    /// Returns the offset that the data offsets of runs are added to (§8.8.7.1).
    ///
    /// - Parameters:
    ///   - fragment: The offset of the movie fragment.
    ///   - previousEnd: The end of the data of the track fragment before; the offset of the movie fragment for the first.
    /// - Returns: The offset in the same bytes.
    package func dataOrigin(fragment: Int, previousEnd: Int) -> Int {
        isCountedFromFragment ? fragment : previousEnd
    }

    /// Calls a closure for each run, in order.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the track fragment was read from.
    ///   - body: Receives the run; `nil` where its header is cut.
    /// - Throws: What the closure throws.
    package func forEachRun<Failure: Error>(
        _ bytes: Span<UInt8>,
        _ body: (TrackRun?) throws(Failure) -> Void
    ) throws(Failure) {
        var children = BoxWalker(payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .trun { try body(TrackRun(child, bytes, defaults: defaults)) }
        }
    }
}

/// A run of samples, `trun` (ISO/IEC 14496-12 §8.8.8).
package struct TrackRun {
    /// The values of a sample, its own or the defaults.
    package struct Sample {
        /// The duration in units of the track; 0 where nothing gives it.
        package let duration: UInt32
        /// The number of bytes; 0 where nothing gives it.
        package let size: UInt32
        /// The flags (§8.8.3.1); `nil` where nothing gives them.
        package let flags: UInt32?
        /// The presentation time less the decode time, in units of the track.
        package let compositionOffset: Int32

        /// A Boolean value that indicates whether the sample can be decoded without others; `nil` where nothing says so.
        package var isSync: Bool? { flags.map { $0 & 0x1_0000 == 0 } }
    }

    /// The ways in which a walk through the samples of a run ends.
    package enum End {
        /// Every sample was visited.
        case complete
        /// The closure wanted no more samples.
        case stopped
        /// The fields of the next sample are not whole.
        case cut
    }

    /// The number of samples.
    package let count: Int
    /// The offset of the first byte of the run from that of the track fragment; `nil` where the data follow those before.
    package let dataOffset: Int32?
    /// A Boolean value that indicates whether the duration of each sample is known.
    package let hasKnownDurations: Bool
    private let defaults: TrackFragment.Defaults
    private let firstFlags: UInt32?
    private let flags: UInt32
    private let cursor: ByteCursor

    /// Reads the header of a run; `nil` where it is cut.
    init?(_ box: Box, _ bytes: Span<UInt8>, defaults: TrackFragment.Defaults) {
        var (_, flags, cursor) = box.fields(bytes)
        count = Int(cursor.uint32(bytes))
        dataOffset = flags & 0x1 != 0 ? cursor.int32(bytes) : nil
        firstFlags = flags & 0x4 != 0 ? cursor.uint32(bytes) : nil
        guard !cursor.isPastEnd else { return nil }
        hasKnownDurations = flags & 0x100 != 0 || defaults.duration != nil
        self.defaults = defaults
        self.flags = flags
        self.cursor = cursor
    }

    /// A Boolean value that indicates whether the samples have no bytes of their own in the run.
    ///
    /// The count of such a run is any number up to 2³², and says nothing of the size of the input.
    package var hasOnlyDefaults: Bool { flags & 0xF00 == 0 }

    /// A Boolean value that indicates whether samples differ in nothing but their size, the flags of the first one aside.
    package var hasEqualTimes: Bool { flags & 0xD00 == 0 }

    /// The values of the first sample; `nil` where the run has none, or the first is cut.
    package func first(_ bytes: Span<UInt8>) -> Sample? {
        var first: Sample?
        forEachSample(bytes) { sample in
            first = sample
            return false
        }
        return first
    }

    /// A Boolean value that indicates whether the run has bytes for all of its samples.
    package var isWhole: Bool {
        count *| ((flags >> 8 & 0xF).nonzeroBitCount *| 4) <= cursor.remaining
    }

    /// Calls a closure for each sample, in order.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the run was read from.
    ///   - body: Receives a sample, and returns whether to go on.
    /// - Returns: How the walk ended.
    /// - Throws: What the closure throws.
    @discardableResult
    package func forEachSample<Failure: Error>(
        _ bytes: Span<UInt8>,
        _ body: (Sample) throws(Failure) -> Bool
    ) throws(Failure) -> End {
        var cursor = cursor
        var firstFlags = firstFlags
        for _ in 0..<count {
            let duration = flags & 0x100 != 0 ? cursor.uint32(bytes) : defaults.duration ?? 0
            let size = flags & 0x200 != 0 ? cursor.uint32(bytes) : defaults.size ?? 0
            let own = flags & 0x400 != 0 ? cursor.uint32(bytes) : defaults.flags
            // Version 0 has no sign, but there are files whose writers put one there; no real offset has 31 bits.
            let offset = flags & 0x800 != 0 ? cursor.int32(bytes) : 0
            guard !cursor.isPastEnd else { return .cut }
            let sample = Sample(
                duration: duration,
                size: size,
                flags: firstFlags ?? own,
                compositionOffset: offset
            )
            firstFlags = nil
            guard try body(sample) else { return .stopped }
        }
        return .complete
    }
}
