import MediaTiming

extension MovieFragment.Track {
    init(_ box: Box, movie: Movie?, _ bytes: Span<UInt8>) throws(MediaFormatError) {
        let fragment = try TrackFragment(box, bytes) { movie?.track($0)?.fragmentDefaults }
        var totals = RunTotals()
        try fragment.forEachRun(bytes) { run throws(MediaFormatError) in
            guard let run, run.isComplete else { throw .truncated("trun") }
            try totals.add(run, bytes)
        }
        id = fragment.trackID
        timescale = movie?.track(fragment.trackID)?.timescale
        baseDecodeTime = fragment.baseDecodeTime
        durationUnits = totals.isDurationKnown ? totals.duration : nil
        earliestCompositionOffset = totals.earliest ?? 0
        sampleCount = totals.sampleCount
        isFirstSampleSync = totals.isFirstSampleSync
    }

    /// The totals of the track runs of a fragment.
    private struct RunTotals {
        var duration: UInt64 = 0
        var isDurationKnown = true
        var sampleCount: Int64 = 0
        /// The earliest presentation time, relative to the first decode time.
        var earliest: Int64?
        var isFirstSampleSync: Bool?

        mutating func add(_ run: TrackRun, _ bytes: Span<UInt8>) throws(MediaFormatError) {
            guard let first = run.first(bytes) else { return }
            if sampleCount == 0 { isFirstSampleSync = first.isSync }
            sampleCount = sampleCount.addingSaturated(Int64(run.count))
            if !run.hasKnownDurations { isDurationKnown = false }
            if run.hasUniformTiming {
                // Computed without iteration: a run without per-sample fields can declare 2³² samples.
                updateEarliest(compositionOffset: Int64(first.compositionOffset))
                try addDuration(UInt64(first.duration).multipliedSaturated(by: UInt64(clamping: run.count)))
                return
            }
            try run.forEachSample(bytes) { sample throws(MediaFormatError) in
                updateEarliest(compositionOffset: Int64(sample.compositionOffset))
                try addDuration(UInt64(sample.duration))
                return true
            }
        }

        private mutating func updateEarliest(compositionOffset offset: Int64) {
            let time = Int64(clamping: duration).addingSaturated(offset)
            earliest = min(earliest ?? time, time)
        }

        private mutating func addDuration(_ length: UInt64) throws(MediaFormatError) {
            let (sum, overflow) = duration.addingReportingOverflow(length)
            guard !overflow else { throw .malformed("durations of trun") }
            duration = sum
        }
    }
}
