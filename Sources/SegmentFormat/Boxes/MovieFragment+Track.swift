import MediaTiming

extension MovieFragment.Track {
    init(_ box: Box, movie: Movie?, _ bytes: Span<UInt8>) throws(MediaFormatError) {
        guard let header = box.child(.tfhd, bytes) else { throw .missing("tfhd") }
        var (_, flags, cursor) = header.fields(bytes)
        id = cursor.uint32(bytes)
        let track = movie?.track(id)
        if flags & 0x1 != 0 { cursor.skip(8) }
        if flags & 0x2 != 0 { cursor.skip(4) }
        let duration = flags & 0x8 != 0 ? cursor.uint32(bytes) : track?.fragmentDefaults?.sampleDuration
        if flags & 0x10 != 0 { cursor.skip(4) }
        let sampleFlags = flags & 0x20 != 0 ? cursor.uint32(bytes) : track?.fragmentDefaults?.sampleFlags
        guard !cursor.isPastEnd else { throw .truncated("tfhd") }
        timescale = track?.timescale

        var base: UInt64?
        var runs = Runs()
        var children = BoxWalker(box.payload, in: bytes)
        while let child = children.next(bytes) {
            switch child.type {
            case .tfdt:
                var (version, _, cursor) = child.fields(bytes)
                let value = cursor.unsigned(version == 0 ? 4 : 8, bytes)
                if !cursor.isPastEnd { base = value }
            case .trun:
                try runs.add(child, defaultDuration: duration, defaultFlags: sampleFlags, bytes)
            default:
                break
            }
        }
        baseDecodeTime = base
        durationUnits = runs.isDurationKnown ? runs.duration : nil
        earliestCompositionOffset = runs.earliest ?? 0
        sampleCount = runs.sampleCount
        isFirstSampleSync = runs.isFirstSampleSync
    }

    /// The runs of samples, `trun`, added up (ISO/IEC 14496-12 §8.8.8).
    private struct Runs {
        var duration: UInt64 = 0
        var isDurationKnown = true
        var sampleCount: Int64 = 0
        /// The lowest presentation time, counted from the first decode time.
        var earliest: Int64?
        var isFirstSampleSync: Bool?

        mutating func add(
            _ box: Box,
            defaultDuration: UInt32?,
            defaultFlags: UInt32?,
            _ bytes: Span<UInt8>
        ) throws(MediaFormatError) {
            var (version, flags, cursor) = box.fields(bytes)
            let count = Int(cursor.uint32(bytes))
            if flags & 0x1 != 0 { cursor.skip(4) }
            var firstFlags = flags & 0x4 != 0 ? cursor.uint32(bytes) : nil
            guard !cursor.isPastEnd else { throw .truncated("trun") }

            let hasDuration = flags & 0x100 != 0
            let hasSize = flags & 0x200 != 0
            let hasFlags = flags & 0x400 != 0
            let hasOffset = flags & 0x800 != 0
            let width = [hasDuration, hasSize, hasFlags, hasOffset].count(where: \.self) *| 4
            guard count *| width <= cursor.remaining else { throw .truncated("trun") }
            guard count > 0 else { return }

            let isFirst = sampleCount == 0
            sampleCount = sampleCount.addingSaturated(Int64(count))
            if !hasDuration, defaultDuration == nil { isDurationKnown = false }
            guard hasDuration || hasFlags || hasOffset else {
                // Nothing differs from sample to sample: no need to count to 2^32.
                note(presentation: 0)
                let length = UInt64(defaultDuration ?? 0).multipliedSaturated(by: UInt64(clamping: count))
                try lengthen(by: length)
                if isFirst { isFirstSampleSync = (firstFlags ?? defaultFlags).map(Self.isSync) }
                return
            }
            for index in 0..<count {
                let length = hasDuration ? cursor.uint32(bytes) : defaultDuration ?? 0
                if hasSize { cursor.skip(4) }
                let own = hasFlags ? cursor.uint32(bytes) : nil
                let offset =
                    hasOffset
                    ? version == 0 ? Int64(cursor.uint32(bytes)) : Int64(cursor.int32(bytes))
                    : 0
                note(presentation: offset)
                try lengthen(by: UInt64(length))
                if isFirst, index == 0 {
                    isFirstSampleSync = (firstFlags ?? own ?? defaultFlags).map(Self.isSync)
                }
                firstFlags = nil
            }
        }

        private mutating func note(presentation offset: Int64) {
            let time = Int64(clamping: duration).addingSaturated(offset)
            earliest = min(earliest ?? time, time)
        }

        private mutating func lengthen(by length: UInt64) throws(MediaFormatError) {
            let (sum, overflow) = duration.addingReportingOverflow(length)
            guard !overflow else { throw .malformed("durations of trun") }
            duration = sum
        }

        /// Bit 16 marks samples that are no sync samples (§8.8.3.1).
        private static func isSync(_ flags: UInt32) -> Bool { flags & 0x1_0000 == 0 }
    }
}
