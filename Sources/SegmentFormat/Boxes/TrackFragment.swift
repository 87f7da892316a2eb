import MediaTiming

/// A track fragment box, `traf`: its header fields and track runs (ISO/IEC 14496-12 §8.8.6 to §8.8.8, §8.8.12).
package struct TrackFragment {
    /// The values of samples that do not specify their own.
    package struct Defaults {
        /// The duration of a sample, in units of the timescale; `nil` if neither the fragment nor the movie specifies
        /// it.
        package let duration: UInt32?
        /// The size of a sample, in bytes; `nil` if neither the fragment nor the movie specifies it.
        package let size: UInt32?
        /// The flags of a sample (§8.8.3.1); `nil` if neither the fragment nor the movie specifies them.
        package let flags: UInt32?
    }

    /// The track ID.
    package let trackID: UInt32
    /// The values of samples that do not specify their own.
    package let defaults: Defaults
    /// The decode time of the first sample, in units of the timescale (`tfdt`); `nil` if it is missing.
    package let baseDecodeTime: UInt64?
    /// A Boolean value that indicates whether data offsets are relative to the start of the movie fragment.
    private let isRelativeToFragment: Bool
    private let payload: Range<Int>

    /// Creates a track fragment from its header.
    ///
    /// - Parameters:
    ///   - box: The `traf` box.
    ///   - bytes: The bytes in which the box was found.
    ///   - movieDefaults: Returns the default values of the movie for a track (`trex`).
    /// - Throws: ``MediaFormatError`` if `tfhd` is missing or incomplete.
    package init(
        _ box: Box,
        _ bytes: Span<UInt8>,
        movieDefaults: (_ trackID: UInt32) -> Movie.FragmentDefaults?
    ) throws(MediaFormatError) {
        guard let header = box.firstChild(.tfhd, in: bytes) else { throw .missing("tfhd") }
        var (_, flags, cursor) = header.fullBoxFields(in: bytes)
        trackID = cursor.readUInt32(bytes)
        let movie = movieDefaults(trackID)
        // An explicit base data offset is relative to the file, of which the segment may be a part. It is treated as
        // the offset of `moof`, which is the value that packagers write.
        if flags & 0x1 != 0 { cursor.skip(8) }
        if flags & 0x2 != 0 { cursor.skip(4) }
        defaults = Defaults(
            duration: flags & 0x8 != 0 ? cursor.readUInt32(bytes) : movie?.sampleDuration,
            size: flags & 0x10 != 0 ? cursor.readUInt32(bytes) : movie?.sampleSize,
            flags: flags & 0x20 != 0 ? cursor.readUInt32(bytes) : movie?.sampleFlags
        )
        guard !cursor.isPastEnd else { throw .truncated("tfhd") }
        isRelativeToFragment = flags & 0x2_0001 != 0
        payload = box.payload
        baseDecodeTime = box.firstChild(.tfdt, in: bytes).flatMap { Self.decodeTime($0, bytes) }
    }

    private static func decodeTime(_ box: Box, _ bytes: Span<UInt8>) -> UInt64? {
        var (version, _, cursor) = box.fullBoxFields(in: bytes)
        let value = cursor.readUnsigned(version == 0 ? 4 : 8, bytes)
        return cursor.isPastEnd ? nil : value
    }

    /// Returns the offset to which the data offsets of runs are relative (§8.8.7.1).
    ///
    /// - Parameters:
    ///   - fragment: The offset of the movie fragment.
    ///   - previousEnd: The end of the previous track fragment's data, or the offset of the movie fragment for the
    ///     first one.
    /// - Returns: The offset, relative to the same start as the parameters.
    package func dataOrigin(fragment: Int, previousEnd: Int) -> Int {
        isRelativeToFragment ? fragment : previousEnd
    }

    /// Calls a closure for each track run, in order.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from which the track fragment was read.
    ///   - body: A closure that receives the run, or `nil` if its header is incomplete.
    /// - Throws: The error that the closure throws.
    package func forEachRun<Failure: Error>(
        _ bytes: Span<UInt8>,
        _ body: (TrackRun?) throws(Failure) -> Void
    ) throws(Failure) {
        var children = BoxIterator(payload, in: bytes)
        while let child = children.next(bytes) {
            if child.type == .trun { try body(TrackRun(child, bytes, defaults: defaults)) }
        }
    }
}

/// A track run box, `trun` (ISO/IEC 14496-12 §8.8.8).
package struct TrackRun {
    /// The values of a sample, either its own or the defaults.
    package struct Sample {
        /// The duration, in units of the timescale; 0 if it is not specified.
        package let duration: UInt32
        /// The size in bytes; 0 if it is not specified.
        package let size: UInt32
        /// The flags (§8.8.3.1); `nil` if they are not specified.
        package let flags: UInt32?
        /// The presentation time minus the decode time, in units of the timescale.
        package let compositionOffset: Int32

        /// A Boolean value that indicates whether the sample is a sync sample; `nil` if it has no flags.
        package var isSync: Bool? { flags.map { $0 & 0x1_0000 == 0 } }
    }

    /// The result of an iteration over the samples of a run.
    package enum End {
        /// Every sample was visited.
        case complete
        /// The closure ended the iteration.
        case stopped
        /// The fields of the next sample are incomplete.
        case truncated
    }

    /// The number of samples.
    package let count: Int
    /// The offset of the first sample from the track fragment's data origin; `nil` if the data follow those of the
    /// previous run.
    package let dataOffset: Int32?
    /// A Boolean value that indicates whether the duration of each sample is known.
    package let hasKnownDurations: Bool
    private let defaults: TrackFragment.Defaults
    private let firstFlags: UInt32?
    private let flags: UInt32
    private let cursor: ByteCursor

    /// Creates a run from its header, or `nil` if the header is incomplete.
    init?(_ box: Box, _ bytes: Span<UInt8>, defaults: TrackFragment.Defaults) {
        var (_, flags, cursor) = box.fullBoxFields(in: bytes)
        count = Int(cursor.readUInt32(bytes))
        dataOffset = flags & 0x1 != 0 ? cursor.readInt32(bytes) : nil
        firstFlags = flags & 0x4 != 0 ? cursor.readUInt32(bytes) : nil
        guard !cursor.isPastEnd else { return nil }
        hasKnownDurations = flags & 0x100 != 0 || defaults.duration != nil
        self.defaults = defaults
        self.flags = flags
        self.cursor = cursor
    }

    /// A Boolean value that indicates whether the run has no fields for individual samples.
    ///
    /// The sample count of such a run can be any number up to 2³² and is not limited by the size of the input.
    package var hasOnlyDefaults: Bool { flags & 0xF00 == 0 }

    /// A Boolean value that indicates whether all samples have the same values, except for their sizes and the first
    /// one's flags.
    package var hasUniformTiming: Bool { flags & 0xD00 == 0 }

    /// Returns the values of the first sample, or `nil` if the run has no samples or the first one is incomplete.
    package func first(_ bytes: Span<UInt8>) -> Sample? {
        var first: Sample?
        forEachSample(bytes) { sample in
            first = sample
            return false
        }
        return first
    }

    /// A Boolean value that indicates whether the run contains the fields of all its samples.
    package var isComplete: Bool {
        count *| fieldSize <= cursor.remaining
    }

    /// The size of the fields of a sample in the box, in bytes.
    private var fieldSize: Int { (flags >> 8 & 0xF).nonzeroBitCount *| 4 }

    /// Returns the total size of the samples, in bytes.
    ///
    /// - Complexity: O(*n*) in the size of the box, whatever the sample count.
    func dataSize(_ bytes: Span<UInt8>) -> Int64 {
        guard flags & 0x200 != 0 else { return Int64(count).multipliedSaturated(by: Int64(defaults.size ?? 0)) }
        var size: Int64 = 0
        forEachSample(bytes) { sample in
            size +|= Int64(sample.size)
            return true
        }
        return size
    }

    /// Returns the total duration of the samples, in units of the timescale.
    ///
    /// - Parameter bytes: The bytes from which the run was read.
    /// - Returns: The duration, without samples whose fields are missing.
    /// - Complexity: O(*n*) in the size of the box, whatever the sample count.
    package func duration(_ bytes: Span<UInt8>) -> Int64 {
        guard flags & 0x100 != 0 else {
            let size = fieldSize
            // A damaged count can exceed the samples whose fields are in the box.
            let known = size == 0 ? count : min(count, cursor.remaining.dividedSaturated(by: size))
            return Int64(known).multipliedSaturated(by: Int64(defaults.duration ?? 0))
        }
        var duration: Int64 = 0
        forEachSample(bytes) { sample in
            duration +|= Int64(sample.duration)
            return true
        }
        return duration
    }

    /// Calls a closure for each sample, in order.
    ///
    /// - Parameters:
    ///   - bytes: The bytes from which the run was read.
    ///   - body: A closure that receives a sample and returns whether to continue.
    /// - Returns: The reason why the iteration ended.
    /// - Throws: The error that the closure throws.
    @discardableResult
    package func forEachSample<Failure: Error>(
        _ bytes: Span<UInt8>,
        _ body: (Sample) throws(Failure) -> Bool
    ) throws(Failure) -> End {
        var cursor = cursor
        var firstFlags = firstFlags
        for _ in 0..<count {
            let duration = flags & 0x100 != 0 ? cursor.readUInt32(bytes) : defaults.duration ?? 0
            let size = flags & 0x200 != 0 ? cursor.readUInt32(bytes) : defaults.size ?? 0
            let own = flags & 0x400 != 0 ? cursor.readUInt32(bytes) : defaults.flags
            // Version 0 is unsigned, but some writers store negative offsets; real offsets do not need 32 bits.
            let offset = flags & 0x800 != 0 ? cursor.readInt32(bytes) : 0
            guard !cursor.isPastEnd else { return .truncated }
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
