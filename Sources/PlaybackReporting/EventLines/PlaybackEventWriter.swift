import Foundation
import MediaTiming
import ReportFormat

/// A writer that formats playback events as JSON, one object on each line.
///
/// An object contains `event` (the kind, see ``PlaybackEvent/Kind/name``), `time` (seconds since the start of the
/// session), `mediaTime` (the playback position in seconds; `null` if there is none), and the fields of the kind;
/// unknown values are omitted. The order of the fields is fixed and numbers are exact, so that equal events have equal
/// lines. Times are in seconds, bit rates in bits per second.
public struct PlaybackEventWriter: Sendable, Hashable {
    private let session: PlaybackSession
    /// The form of URLs.
    private let addresses: WrittenAddresses

    /// Creates a writer for the events of a session.
    ///
    /// - Parameters:
    ///   - session: The session.
    ///   - addresses: The form of URLs. Default: ``WrittenAddresses/whole``.
    public init(session: PlaybackSession, addresses: WrittenAddresses = .whole) {
        self.session = session
        self.addresses = addresses
    }

    /// Returns the event as a line, without a line terminator.
    public func line(_ event: PlaybackEvent) -> String {
        let details = details(of: event.kind).compactMap { name, value in
            value.map { ReportValue.Field(name: name, value: $0) }
        }
        return ReportValue.object(
            [
                ReportValue.Field(name: "event", value: .string(event.kind.name)),
                ReportValue.Field(name: "time", value: seconds(event.time)),
                ReportValue.Field(name: "mediaTime", value: .orUnknown(event.mediaTime.map { .seconds($0) })),
            ] + details
        ).json
    }

    /// Returns a time on the clock of the session as seconds since the start of the session.
    private func seconds(_ time: Duration) -> ReportValue { .seconds(time - session.start) }

    private func url(_ address: String) -> ReportValue { .string(addresses.text(address)) }

    private func details(of kind: PlaybackEvent.Kind) -> [(String, ReportValue?)] {
        switch kind {
        case .statusChanged(let status): [("status", .string(status.rawValue))]
        case .playbackTypeKnown(let type): [("type", .string(type.rawValue))]
        case .rateChanged(let change):
            [
                ("rate", rate(change.rate)), ("previousRate", rate(change.previousRate)),
                ("reason", .string(change.reason.rawValue)), ("variant", change.variant.map { .string($0.id) }),
            ]
        case .timeControlChanged(let control): details(of: control)
        case .resourceRequest(let request): details(of: request)
        case .segmentLoaded(let segment):
            [
                ("url", url(segment.address)), ("mediaType", .string(segment.mediaType.rawValue)),
                ("variant", segment.variant.map { .string($0.id) }), ("start", .seconds(segment.range.start)),
                ("duration", .seconds(segment.range.duration)), ("bytes", .integer(segment.bytes.bytes)),
                ("transferDuration", .seconds(segment.transferDuration)), ("overdue", .bool(segment.isOverdue)),
            ]
        case .segmentSkipped(let segment):
            [
                ("url", url(segment.address)), ("sequence", segment.sequence.map { .integer($0) }),
                ("mediaType", .string(segment.mediaType.rawValue)), ("start", .seconds(segment.range.start)),
                ("duration", .seconds(segment.range.duration)), ("reason", .string(segment.reason.rawValue)),
            ]
        case .likelyToKeepUp(let report):
            [
                ("initial", .bool(report.isInitial)), ("variant", report.variant.map { .string($0.id) }),
                ("timeTaken", .seconds(report.timeTaken)), ("loadedTimeRanges", .ranges(report.loadedTimeRanges)),
            ]
        case .stallEnded(let duration): [("duration", .seconds(duration))]
        case .seekStarted(let target): [("target", .seconds(target))]
        case .seekEnded(let outcome):
            [
                ("target", .seconds(outcome.target)), ("landed", .orUnknown(outcome.landed.map { .seconds($0) })),
                ("inBuffer", .bool(outcome.didSeekInBuffer)),
            ]
        case .timeJumped(let from, let to):
            [("from", .orUnknown(from.map { .seconds($0) })), ("to", .seconds(to))]
        case .variantSwitchStarted(let change): details(of: change)
        case .variantSwitched(let change, let succeeded):
            [("succeeded", .bool(succeeded))] + details(of: change)
        case .pathwayChanged(let from, let to): [("from", .string(from)), ("to", .string(to))]
        case .selectionChanged(let change):
            [
                ("mediaType", .string(change.mediaType.rawValue)),
                ("option", .orUnknown(change.option.map { .string($0) })), ("explicit", .bool(change.isExplicit)),
            ]
        case .tracksChanged(let tracks): [("tracks", .array(tracks.map(describe)))]
        case .seekableRangeChanged(let range): [("range", .orUnknown(range.map { .range($0) }))]
        case .timedMetadata(let message):
            [
                ("kind", .string(message.kind.rawValue)), ("start", .seconds(message.time)),
                ("duration", message.duration.map { .seconds($0) }), ("scheme", .string(message.scheme)),
                ("value", .string(message.value)), ("id", .integer(Int64(message.id))),
                ("payload", .string(Data(message.payload).base64EncodedString())),
            ]
        case .frames(let counts): [("decoded", .integer(counts.decoded)), ("dropped", .integer(counts.dropped))]
        case .error(let record), .failedToPlayToEnd(let record): ReportValue.failure(record, addresses)
        case .stalled, .playedToEnd, .ended: []
        }
    }

    private func details(of control: TimeControl) -> [(String, ReportValue?)] {
        switch control {
        case .paused: [("timeControl", .string("paused"))]
        case .waiting(let reason): [("timeControl", .string("waiting")), ("reason", .string(reason.rawValue))]
        case .playing: [("timeControl", .string("playing"))]
        }
    }

    private func details(of change: VariantSwitch) -> [(String, ReportValue?)] {
        [
            ("from", .orUnknown(change.from.map { .variant($0, addresses) })),
            ("to", .variant(change.to, addresses)),
            ("cause", .string(change.cause)), ("throughput", change.evidence.throughput.map { .bitRate($0) }),
            ("bufferLevel", .seconds(change.evidence.bufferLevel)),
            ("predictedBufferLevel", change.evidence.predictedBufferLevel.map { .seconds($0) }),
            ("loadedTimeRanges", .ranges(change.loadedTimeRanges)),
        ]
    }

    private func details(of request: ResourceRequest) -> [(String, ReportValue?)] {
        [
            ("kind", .string(request.kind.rawValue)), ("url", url(request.address)),
            ("mediaType", request.mediaType.map { .string($0.rawValue) }),
            ("variant", request.variant.map { .string($0.id) }),
            (
                "byteRange",
                request.byteRange.map { .fields(["start": .integer($0.start), "length": .integer($0.length)]) }
            ),
            ("requestStart", seconds(request.requestStart)), ("responseStart", request.responseStart.map(seconds)),
            ("responseEnd", seconds(request.responseEnd)), ("bytes", .integer(request.bytes.bytes)),
            ("serverAddress", request.serverAddress.map { .string($0) }),
            ("cached", .bool(request.wasReadFromCache)), ("status", request.status.map { .integer($0) }),
            ("segmentDuration", request.segmentDuration.map { .seconds($0) }),
            ("index", request.indexAddress.map(url)), ("failure", request.failure.map { .string($0) }),
            ("abandoned", .bool(request.wasAbandoned)), ("cellular", request.usedCellularNetwork.map { .bool($0) }),
        ]
    }

    private func describe(_ track: PlaybackTrack) -> ReportValue {
        .fields([
            "id": .integer(track.id), "mediaType": .string(track.mediaType.rawValue),
            "codec": track.codec.map { .string($0) }, "language": track.language.map { .string($0) },
        ])
    }

    private func rate(_ rate: Double) -> ReportValue { rate.isFinite ? .real(rate) : .unknown }
}
