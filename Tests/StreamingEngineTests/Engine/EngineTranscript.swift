import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// The state of an engine to which events are delivered, and its effects as short texts.
struct EngineTranscript {
    static let root = "https://origin.example/"

    private(set) var state: EngineState
    /// The names of the events that were reported.
    private(set) var reports: [String] = []
    private var observation = EngineObservation()
    private var segments: [Int: SegmentReference] = [:]
    private var ranges: [Int: MediaTimeRange] = [:]
    private var now = Duration.zero

    init(_ options: StreamingOptions = StreamingOptions()) {
        state = EngineState(options: options, at: .zero)
        observation.abilities = MediaPipelineCapabilities(supportsReversePlayback: true, supportsStepping: true)
    }

    /// Delivers an event, and returns the effects except reports and snapshots.
    mutating func deliver(_ event: EngineEvent, at seconds: Double) -> [String] {
        now = .seconds(seconds)
        let observed = state.handle(.observed(observation), at: now)
        #expect(observed.isEmpty)
        return state.handle(event, at: now).compactMap { describe($0) }
    }

    private mutating func describe(_ effect: EngineEffect) -> String? {
        switch effect {
        case .report(let event):
            reports.append(event.kind.name)
            return nil
        case .publish: return nil
        case .resume(let waiter, let result):
            return "answer \(waiter): \(result.isFinished ? "finished" : "not finished") at \(result.position.seconds)"
        case .cancel(let request): return "cancel \(request)"
        case .measureTransfer(let request): return "measure \(request)"
        case .finish: return "finish"
        case .begin(let work): return describe(work)
        }
    }

    private mutating func describe(_ work: EngineWork) -> String {
        func name(_ address: ResourceAddress) -> String { String(address.text.dropFirst(Self.root.count)) }
        switch work {
        case .open: return "open"
        case .reopen(let request): return "reopen \(request)"
        case .loadSteeringManifest(let request, let address): return "steer \(request) \(name(address))"
        case .indexFile: return "index"
        case .loadPlaylist(let request, let resource, _): return "load \(request) \(name(resource.address))"
        case .fetch(let request, let segment, _):
            segments[request] = segment
            return "fetch \(request) \(name(segment.address))"
        case .append(let request, let piece):
            ranges[request] = piece.range
            return "append \(request)"
        case .pipeline(.seek(_, let target, _)): return "seek \(target.seconds)"
        case .pipeline(.setRate(let rate, nil)): return "rate \(rate)"
        case .pipeline(.setRate(let rate, let time?)): return "rate \(rate) at \(time)"
        case .pipeline(.step(let count, _)): return "step \(count)"
        case .pipeline(.discard): return "discard"
        case .pipeline(.discardTrickPlay): return "discard trick play"
        case .pipeline(.selectCaptions): return "captions"
        case .pipeline(.selectTrack(let type, let track)):
            return "track \(type) \(track.map { "\($0)" } ?? "none")"
        case .pipeline(.setAudioSettings): return "audio settings"
        case .closePipeline: return "close"
        }
    }

    // MARK: Events

    /// Opens a media playlist of segments of 6 s.
    mutating func open(count: Int, isLive: Bool = false, at seconds: Double) throws -> [String] {
        let playlist = try media(
            SampleStream.media("v", count: count, ended: !isLive),
            at: Self.root + "media.m3u8"
        )
        let address = ResourceAddress(Self.root + "media.m3u8")
        let request = ResourceRequest(
            .mediaPlaylist,
            TransportRequest(address, kind: .playlist),
            began: .zero,
            now: now,
            nil
        )
        let presentation = Presentation(.media(playlist))
        return deliver(.opened(.presentation(presentation, media: playlist, address), request), at: seconds)
    }

    /// Delivers the response to a request for a media playlist, which has segments of 6 s.
    mutating func receivePlaylist(_ request: Int, count: Int, at seconds: Double) throws -> [String] {
        let text = SampleStream.media("v", count: count, ended: false)
        let playlist = try media(text, at: Self.root + "media.m3u8")
        return deliver(
            .playlistReceived(request: request, PlaylistResponse(request: nil, result: .success(playlist))),
            at: seconds
        )
    }

    /// Delivers the loaded segment of a request.
    mutating func receive(_ request: Int, at seconds: Double) throws -> [String] {
        let segment = try #require(segments[request])
        // Ten megabytes in ten milliseconds, so that the network is never the bottleneck.
        let began = Duration.seconds(seconds) - .milliseconds(10)
        var measurement = TransferMeasurement(requestStart: began)
        measurement.bytes = ByteCount(10_000_000)
        let loaded = SegmentLoader.Loaded(
            content: .media(ByteBuffer(repeating: 1, count: 1_000), initialization: nil),
            protection: nil,
            fetched: FetchedResource(
                bytes: ByteBuffer(repeating: 1, count: 1_000),
                address: segment.address,
                contentType: nil,
                measurement: measurement,
                startTime: began,
                endTime: .seconds(seconds),
                status: 200
            )
        )
        let progress = TransferProgress(measurement: nil, expectedBytes: nil)
        return deliver(.segmentReceived(request: request, .success(loaded), progress), at: seconds)
    }

    /// Delivers the failure of a request for a segment.
    mutating func fail(_ request: Int, status: Int, at seconds: Double) throws -> [String] {
        let segment = try #require(segments[request])
        let error = TransportError(.status, "it failed", address: segment.address, status: status)
        let failure = SegmentLoader.Failure.transport(error, .mediaSegment)
        let progress = TransferProgress(measurement: nil, expectedBytes: nil)
        return deliver(.segmentReceived(request: request, .failure(failure), progress), at: seconds)
    }

    /// Accepts the media of a request in the pipeline.
    mutating func accept(_ request: Int, at seconds: Double) throws -> [String] {
        let range = try #require(ranges[request])
        return deliver(.appended(request: request, .success(range)), at: seconds)
    }

    /// Delivers the segment of a request and accepts it in the pipeline; returns the effects of the second event.
    mutating func complete(_ request: Int, at seconds: Double) throws -> [String] {
        let received = try receive(request, at: seconds)
        #expect(received == ["append \(request)"])
        return try accept(request, at: seconds)
    }

    /// Reports that the pipeline has moved the playhead.
    mutating func land(_ target: Double, seek: Int, at seconds: Double) throws -> [String] {
        let landed = try #require(MediaTime(decimal: "\(target)"))
        observation.timebase = Timebase(mediaTime: landed, time: .seconds(seconds), rate: observation.timebase.rate)
        return deliver(.pipelineFinished(.sought(seek: seek, .success(landed))), at: seconds)
    }

    /// Reports that the pipeline plays at a rate.
    mutating func take(rate: Double, at seconds: Double) -> [String] {
        observation.timebase = observation.timebase.continued(at: .seconds(seconds), rate: rate)
        return deliver(.pipelineFinished(.rateSet), at: seconds)
    }

    /// Delivers a command of the application.
    mutating func command(_ command: EngineCommand, at seconds: Double) -> [String] {
        deliver(.command(command), at: seconds)
    }
}
