import CFFmpeg
import MediaTiming
import SegmentFormat

/// A reader for segments of a progressive movie, whose initialization locates each sample (ISO/IEC 14496-12 §8.5 to
/// §8.7).
struct ProgressiveReading {
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
        result.tracks = initialization.order.compactMap { initialization.tracks[$0]?.format }
        for samples in index.tracks {
            guard let track = initialization.tracks[samples.id] else { continue }
            guard track.protection == nil else {
                throw DecodingError(.unsupported, "encrypted movies without fragments are not decoded here")
            }
            try read(samples, track, bytes)
        }
        return result
    }

    private mutating func read(
        _ samples: ProgressiveIndex.Track,
        _ track: MovieInitialization.Track,
        _ bytes: Span<UInt8>
    ) throws(DecodingError) {
        let start = ProgressiveIndex.Position(index: 0)
        let end = ProgressiveIndex.Position(index: samples.samples.count)
        let range = timeRange.map { index.range(of: samples, in: $0) } ?? start..<end
        // Samples of a track do not overlap, so they are not larger than the segment in total.
        var unusedBytes = bytes.count
        let stretch = fileOffset..<max(fileOffset, fileOffset.addingReportingOverflow(Int64(bytes.count)).partialValue)
        var place = range.lowerBound
        while place < range.upperBound {
            let joined = samples.samples[place.index]
            let last = place.index == range.upperBound.index ? range.upperBound.passed : joined.count
            let wanted = place.passed..<max(place.passed, last)
            let given = wanted.clamped(to: joined.samples(in: stretch))
            place = ProgressiveIndex.Position(index: place.index + 1)
            // Samples before the start of the timeline are not played and may be missing.
            if given != wanted, timeRange != nil, !samples.isBeforeZero(joined) {
                result.note("samples lie outside of the bytes of the piece")
            }
            let sample = given == 0..<joined.count ? joined : joined.part(given)
            guard sample.size > 0, let found = byteRange(of: sample, in: bytes) else { continue }
            guard found.count <= unusedBytes else {
                result.note("samples of track \(samples.id) overlap")
                return
            }
            guard result.packets.count < SegmentDemuxer.mostPackets else {
                result.note("the piece has more than \(SegmentDemuxer.mostPackets) packets")
                return
            }
            guard joined.count == 1 || fits(sample, track.format) else {
                result.note("the sound of track \(samples.id) is laid out in a way that is not read here")
                return
            }
            unusedBytes -= found.count
            let isBehindEnd = samples.isBehindEnd(sample)
            result.packets.append(try packet(sample, bytes.extracting(found), track, isBehindEnd: isBehindEnd))
        }
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
    private func fits(_ sample: ProgressiveSample, _ format: TrackFormat) -> Bool {
        let block = unsafe Int(format.parameters.pointer.pointee.block_align)
        return block <= 0 || (sample.size / max(1, sample.count)).isMultiple(of: block)
    }

    private func packet(
        _ sample: ProgressiveSample,
        _ bytes: Span<UInt8>,
        _ track: MovieInitialization.Track,
        isBehindEnd: Bool
    ) throws(DecodingError) -> MediaPacket {
        let packet = try unsafe PacketBuilding.packet(bytes)
        unsafe packet.pointee.dts = sample.decodeTime.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.pts = sample.presentationTime.addingReportingOverflow(track.editOffset).partialValue
        unsafe packet.pointee.duration = sample.duration
        unsafe packet.pointee.pos = sample.offset
        if sample.isSync { unsafe packet.pointee.flags |= AV_PKT_FLAG_KEY }
        if isBehindEnd { unsafe packet.pointee.flags |= AV_PKT_FLAG_DISCARD }
        if track.format.kind == .audio, track.editOffset < 0 {
            unsafe PacketBuilding.trimBeforeZero(packet, track.format)
        }
        return unsafe MediaPacket(owning: packet, trackID: track.format.id, timeBase: track.format.timeBase)
    }
}
