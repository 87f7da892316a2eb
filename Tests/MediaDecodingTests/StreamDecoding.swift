import MediaTiming
import PlaybackReporting
import SegmentFormat
import Testing

@testable import MediaDecoding

/// Decodes complete streams as a player would: segment by segment, with one decoder until the format changes.
struct StreamDecoding {
    var frames: [VideoFrame] = []
    var sound: [AudioSamples] = []
    var metadata: [TimedMetadata] = []
    var problems: [String] = []
    var decoderCount = 0
    let demuxer: SegmentDemuxer
    var decodesAudio = true
    private var video: VideoDecoder?
    private var audio: AudioDecoder?

    init(isContinuous: Bool = false) { demuxer = SegmentDemuxer(isContinuous: isContinuous) }

    mutating func add(
        _ bytes: [UInt8],
        _ initialization: [UInt8]? = nil,
        key: SampleKey? = nil,
        startTime: MediaTime? = nil
    ) throws {
        let demuxer = demuxer
        let segment = try bytes.withUnsafeBytes { bytes in
            try (initialization ?? []).withUnsafeBytes { header in
                try demuxer.demux(bytes, initialization: header, key: key, startTime: startTime)
            }
        }
        try add(segment)
    }

    mutating func add(_ segment: DemuxedSegment) throws {
        problems += segment.problems
        metadata += segment.metadata
        for track in segment.tracks {
            if track.kind == .video {
                if let video, video.canContinue(with: track) {
                    video.switchFormat(to: track)
                } else {
                    frames += video?.drain() ?? []
                    video = try VideoDecoder(track)
                    decoderCount += 1
                }
            } else if track.kind == .audio, decodesAudio {
                if let audio, audio.canContinue(with: track) {
                    audio.switchFormat(to: track)
                } else {
                    sound += audio?.drain() ?? []
                    audio = try AudioDecoder(track)
                }
            }
        }
        for packet in segment.packets {
            switch segment.track(withID: packet.trackID)?.kind {
            case .video: frames += video?.decode(packet) ?? []
            case .audio: sound += audio?.decode(packet) ?? []
            default: break
            }
        }
    }

    mutating func finish() throws {
        let rest = try demuxer.finish()
        if !rest.packets.isEmpty { try add(rest) }
        frames += video?.drain() ?? []
        sound += audio?.drain() ?? []
    }
}
