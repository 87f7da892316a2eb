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
    /// The number of bytes that further samples of all tracks may have.
    ///
    /// Samples usually do not overlap, so they are not larger than the segment in total. Some tracks share their samples,
    /// such as one audio track for two languages. Without this limit, each track could have a copy of the same bytes.
    private var remainingSampleSize = 0
    /// The number of bytes that further samples of the current track may have.
    private var remainingTrackSize = 0
    /// The maximum size of the samples of all tracks, as a multiple of the size of the segment.
    private static let maximumShareOfSegment = 4

    /// A track with its samples.
    private typealias SampledTrack = (samples: ProgressiveIndex.Track, track: MovieInitialization.Track)

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
        let maximumSize = bytes.count *| Self.maximumShareOfSegment
        remainingSampleSize = maximumSize
        result.container = .isoBaseMedia
        result.tracks = initialization.trackOrder.compactMap { initialization.tracks[$0]?.format }
        var (media, subtitles): ([SampledTrack], [SampledTrack]) = ([], [])
        for samples in index.tracks {
            guard let track = initialization.tracks[samples.id] else { continue }
            guard track.protection == nil else {
                throw DecodingError(
                    status: .unsupported,
                    operation: "encrypted movies without fragments are not supported"
                )
            }
            if track.format.kind == .subtitles {
                subtitles.append((samples, track))
            } else {
                media.append((samples, track))
            }
        }
        // Of samples that share bytes, those of subtitles are left out before those of other tracks.
        for (samples, track) in media + subtitles { try readTrack(samples, track: track, bytes: bytes) }
        for (samples, track) in subtitles { try readEarlierSubtitle(samples, track: track, bytes: bytes) }
        return result
    }

    private mutating func readTrack(
        _ samples: ProgressiveIndex.Track,
        track: MovieInitialization.Track,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        remainingTrackSize = bytes.count
        let start = ProgressiveIndex.Position(index: 0)
        let end = ProgressiveIndex.Position(index: samples.samples.count)
        let range = timeRange.map { index.sampleRange(of: samples, in: $0) } ?? start..<end
        let fileRange =
            fileOffset..<max(fileOffset, fileOffset.addingReportingOverflow(Int64(bytes.count)).partialValue)
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
            guard reserve(found.count, forTrack: samples.id) else { return }
            guard result.packets.count < SegmentDemuxer.maximumPacketCount else {
                result.recordProblem("the segment has more than \(SegmentDemuxer.maximumPacketCount) packets")
                return
            }
            guard joined.count == 1 || hasBlockSize(sample, format: track.format) else {
                result.recordProblem("the audio layout of track \(samples.id) is not supported")
                return
            }
            let isAfterEnd = samples.isAfterEnd(sample)
            result.packets.append(
                try makePacket(sample, bytes: bytes.extracting(found), track: track, isAfterEnd: isAfterEnd)
            )
        }
    }

    /// Reads the sample that can be in progress at the start of the segment, if the bytes contain it.
    private mutating func readEarlierSubtitle(
        _ samples: ProgressiveIndex.Track,
        track: MovieInitialization.Track,
        bytes: Span<UInt8>
    ) throws(DecodingError) {
        guard let timeRange else { return }
        remainingTrackSize = bytes.count
        let position = index.sampleRange(of: samples, in: timeRange).lowerBound
        guard position.index > 0, position.sampleOffset == 0 else { return }
        let sample = samples.samples[position.index - 1]
        guard sample.count == 1, sample.size > 0, !samples.isAfterEnd(sample),
            let found = byteRange(of: sample, in: bytes), reserve(found.count, forTrack: samples.id)
        else { return }
        result.earlierSubtitles.append(
            try makePacket(sample, bytes: bytes.extracting(found), track: track, isAfterEnd: false)
        )
    }

    /// Counts the bytes of a sample, and records a problem if the samples of its track are larger than the segment, or those of all
    /// tracks are more than four times as large.
    ///
    /// - Returns: A Boolean value that indicates whether the sample may be read.
    private mutating func reserve(_ byteCount: Int, forTrack id: UInt32) -> Bool {
        guard byteCount <= min(remainingSampleSize, remainingTrackSize) else {
            result.recordProblem(
                "samples of track \(id) are left out: together, samples are much larger than the segment"
            )
            return false
        }
        remainingSampleSize -= byteCount
        remainingTrackSize -= byteCount
        return true
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
