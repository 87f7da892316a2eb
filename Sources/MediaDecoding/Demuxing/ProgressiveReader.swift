import CFFmpeg
import MediaTiming
import SegmentFormat

/// A reader for segments of a progressive movie, whose initialization locates each sample (ISO/IEC 14496-12 §8.5 to
/// §8.7).
struct ProgressiveReader {
    let initialization: MovieInitialization
    let index: ProgressiveIndex
    /// The offset of the first byte in the file.
    let fileOffset: Int64
    /// The time range of the segment on the movie timeline; if `nil`, all samples that the bytes contain belong to the
    /// segment.
    let timeRange: MediaTimeRange?

    private var result = DemuxedSegment()

    init(
        _ initialization: MovieInitialization,
        _ index: ProgressiveIndex,
        fileOffset: Int64,
        timeRange: MediaTimeRange?
    ) {
        self.initialization = initialization
        self.index = index
        self.fileOffset = fileOffset
        self.timeRange = timeRange
    }

    mutating func read(_ bytes: Span<UInt8>) throws(DecodingError) -> DemuxedSegment {
        result.container = .isoBaseMedia
        result.tracks = initialization.trackOrder.compactMap { initialization.tracks[$0]?.format }
        for samples in index.tracks {
            guard let track = initialization.tracks[samples.id] else { continue }
            guard track.protection == nil else {
                throw DecodingError(
                    status: .unsupported,
                    operation: "encrypted movies without fragments are not supported"
                )
            }
            try readTrack(samples, track: track, bytes: bytes)
        }
        return result
    }

    private mutating func readTrack(
        _ samples: ProgressiveIndex.Track,
        track: MovieInitialization.Track,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        let start = ProgressiveIndex.Position(index: 0)
        let end = ProgressiveIndex.Position(index: samples.samples.count)
        let range = timeRange.map { index.sampleRange(of: samples, in: $0) } ?? start..<end
        // Samples of a track do not overlap, so they are not larger than the segment in total.
        var unusedBytes = bytes.count
        let fileRange =
            fileOffset..<max(fileOffset, fileOffset.addingReportingOverflow(Int64(bytes.count)).partialValue)
        if timeRange != nil, track.format.kind == .subtitles {
            try readEarlierSubtitle(samples, before: range.lowerBound, track: track, bytes: bytes)
        }
        var position = range.lowerBound
        while position < range.upperBound {
            let joined = samples.samples[position.index]
            let last = position.index == range.upperBound.index ? range.upperBound.sampleOffset : joined.count
            let requestedSamples = position.sampleOffset..<max(position.sampleOffset, last)
            let availableSamples = requestedSamples.clamped(to: joined.indices(in: fileRange))
            position = ProgressiveIndex.Position(index: position.index + 1)
            // Samples before the start of the timeline are not played and may be missing.
            if availableSamples != requestedSamples, timeRange != nil, !samples.isBeforeZero(joined) {
                result.recordProblem("samples are outside of the bytes of the segment")
            }
            let sample = availableSamples == 0..<joined.count ? joined : joined.subrange(availableSamples)
            guard sample.size > 0, let found = byteRange(of: sample, in: bytes) else { continue }
            guard found.count <= unusedBytes else {
                result.recordProblem("samples of track \(samples.id) overlap")
                return
            }
            guard result.packets.count < SegmentDemuxer.maximumPacketCount else {
                result.recordProblem("the segment has more than \(SegmentDemuxer.maximumPacketCount) packets")
                return
            }
            guard joined.count == 1 || hasBlockSize(sample, format: track.format) else {
                result.recordProblem("the audio layout of track \(samples.id) is not supported")
                return
            }
            unusedBytes -= found.count
            let isAfterEnd = samples.isAfterEnd(sample)
            result.packets.append(
                try makePacket(sample, bytes: bytes.extracting(found), track: track, isAfterEnd: isAfterEnd)
            )
        }
    }

    /// Reads the sample that can be in progress at the start of the segment, if the bytes contain it.
    private mutating func readEarlierSubtitle(
        _ samples: ProgressiveIndex.Track,
        before position: ProgressiveIndex.Position,
        track: MovieInitialization.Track,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        guard position.index > 0, position.sampleOffset == 0 else { return }
        let sample = samples.samples[position.index - 1]
        guard sample.count == 1, sample.size > 0, !samples.isAfterEnd(sample),
            let found = byteRange(of: sample, in: bytes)
        else { return }
        result.earlierSubtitles.append(
            try makePacket(sample, bytes: bytes.extracting(found), track: track, isAfterEnd: false)
        )
    }

    /// Returns the range of a sample in the bytes; `nil` if the bytes do not contain all of it.
    private func byteRange(of sample: ProgressiveSample, in bytes: Span<UInt8>) -> Range<Int>? {
        let (start, overflow) = sample.offset.subtractingReportingOverflow(fileOffset)
        guard !overflow, start >= 0, start <= Int64(bytes.count), sample.size <= bytes.count - Int(start) else {
            return nil
        }
        return Int(start)..<Int(start) + sample.size
    }

    /// Returns whether the size of a sample matches the block size of the audio format.
    ///
    /// Old QuickTime files declare one byte per sample of compressed audio.
    private func hasBlockSize(_ sample: ProgressiveSample, format: TrackFormat) -> Bool {
        let block = unsafe Int(format.parameters.pointer.pointee.block_align)
        return block <= 0 || (sample.size / max(1, sample.count)).isMultiple(of: block)
    }

    private func makePacket(
        _ sample: ProgressiveSample,
        bytes: Span<UInt8>,
        track: MovieInitialization.Track,
        isAfterEnd: Bool
    ) throws(DecodingError) -> MediaPacket {
        let packet = try unsafe PacketBuilder.makePacket(bytes)
        unsafe packet.pointee.dts = sample.decodeTime.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.pts = sample.presentationTime.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.duration = sample.duration
        unsafe packet.pointee.pos = sample.offset
        if sample.isSync { unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if isAfterEnd { unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD }
        if track.format.kind == .audio, track.editOffset < 0 {
            unsafe PacketBuilder.trimBeforeZero(packet, format: track.format)
        }
        return unsafe MediaPacket(owning: packet, trackID: track.format.id, timeBase: track.format.timeBase)
    }
}
