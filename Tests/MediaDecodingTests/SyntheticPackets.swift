import CFFmpeg
import MediaTiming
import SegmentFormat

@testable import MediaDecoding

/// Tracks and packets that no file has to contain; timestamps are in units of 1/90,000 second.
enum SyntheticPackets {
    static func format(_ codec: AVCodecID, _ kind: MediaTrack.MediaType) throws -> TrackFormat {
        let parameters = try CodecParameters()
        parameters.pointer.pointee.codec_id = codec
        parameters.pointer.pointee.codec_type = kind == .video ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO
        return TrackFormat(id: 1, kind: kind, timeBase: .ninetyKilohertz, parameters: parameters)
    }

    static func packet(_ bytes: [UInt8], at start: Int64, duration: Int64) throws -> MediaPacket {
        let pointer = try PacketBuilder.makePacket(bytes)
        pointer.pointee.pts = start
        pointer.pointee.dts = start
        pointer.pointee.duration = duration
        return MediaPacket(owning: pointer, trackID: 1, timeBase: .ninetyKilohertz)
    }

    /// Returns a segment of one track.
    static func segment(_ format: TrackFormat, _ packets: [MediaPacket]) -> DemuxedSegment {
        var segment = DemuxedSegment()
        segment.container = .isoBaseMedia
        segment.tracks = [format]
        segment.packets = packets
        return segment
    }
}
