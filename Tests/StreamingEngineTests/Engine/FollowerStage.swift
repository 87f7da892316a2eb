import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// The state of a ``PlaylistFollower`` with two variants, or one, and separate audio.
struct FollowerStage {
    private static let one = """
        #EXTM3U
        #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="g",NAME="E",DEFAULT=YES,AUTOSELECT=YES,URI="g.m3u8"
        #EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=640x360,AUDIO="g"
        low.m3u8

        """
    private static let two =
        one + "#EXT-X-STREAM-INF:BANDWIDTH=3000000,RESOLUTION=1280x720,AUDIO=\"g\"\nhigh.m3u8\n"

    var plan: FetchPlan
    var sink = EffectSink(now: .seconds(10))
    var live = LiveState()
    var follower = PlaylistFollower()
    var now = Duration.seconds(10)
    let low: StreamSource
    /// The other variant; the same one if there is only one.
    let high: StreamSource
    let audio: StreamSource

    /// Creates a state in which the main track has the source of the first variant, and no playlist.
    init(isAlone: Bool = false) throws {
        let presentation = Presentation(try multivariant(isAlone ? Self.one : Self.two))
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        let variants = presentation.variants
        try #require(variants.count == (isAlone ? 1 : 2))
        let option = try #require(presentation.group(.audio)?.options.first)
        low = StreamSource(variants[0], location: 0, address: variants[0].address)
        high = StreamSource(
            variants[variants.count - 1],
            location: 0,
            address: variants[variants.count - 1].address
        )
        audio = StreamSource(identity: .option(option.id), address: ResourceAddress("https://example.com/g.m3u8"))
        plan.tracks.main.source = StreamSource(variants[0], location: 0, address: variants[0].address)
        self.plan = plan
    }

    var moment: PlaybackMoment {
        PlaybackMoment(
            now: now,
            position: .zero,
            isPositioned: true,
            seek: nil,
            desiredRate: 1,
            isPausedAtStart: false,
            rate: 1,
            timebase: Timebase(),
            limits: PlaybackMoment.Limits(StreamingOptions())
        )
    }

    /// The time of the next reload; `nil` if there is none.
    func reloadTime(_ kind: TrackKind = .main) -> Duration? { plan.tracks[kind].nextReload(mayReload: true)?.time }

    /// Returns the failure of a request.
    static func failure(
        _ code: TransportError.Code = .status,
        status: Int? = nil,
        retryAfter: Duration? = nil
    ) -> Result<MediaPlaylist, StreamingError> {
        let error = TransportError(
            code,
            "it failed",
            address: ResourceAddress("https://example.com/x"),
            status: status,
            retryAfter: retryAfter
        )
        return .failure(StreamingError(error, "a media playlist"))
    }

    /// Returns a live playlist of segments of 4 s.
    static func window(_ count: Int = 6, first: Int = 0) throws -> Result<MediaPlaylist, StreamingError> {
        .success(try LiveWindowText(first: first, count: count).playlist)
    }

    private static func text(_ consequence: Consequence?) -> String {
        switch consequence {
        case nil: "none"
        case .fail(let error): "fail \(error.code.rawValue)"
        case .mainPlaylistLoaded: "loaded"
        case .jump: "jump"
        }
    }

    // MARK: Steps

    /// Makes a playlist that was requested at 9 s the current one of a track; returns the consequence as text.
    mutating func adopt(_ playlist: MediaPlaylist, from source: StreamSource, for kind: TrackKind = .main) -> String {
        let moment = moment
        let consequence = follower.adopt(
            playlist,
            from: source,
            for: kind,
            began: .seconds(9),
            &plan,
            &live,
            moment,
            &sink
        )
        return Self.text(consequence)
    }

    /// Returns whether the playlist of a source is in memory.
    mutating func load(_ source: StreamSource, for kind: TrackKind = .main) -> Bool {
        let moment = moment
        return follower.load(source, for: kind, &plan, moment, &sink)
    }

    /// Delivers the response to a request; returns the consequence as text.
    mutating func receive(
        _ result: Result<MediaPlaylist, StreamingError>,
        for number: Int,
        _ request: ResourceRequest? = nil
    ) -> String {
        let moment = moment
        let response = PlaylistResponse(request: request, result: result)
        return Self.text(follower.receive(response, for: number, &plan, &live, moment, &sink))
    }

    /// Loads a playlist and delivers the response; returns the consequence as text.
    mutating func answerLoad(
        of source: StreamSource,
        for kind: TrackKind = .main,
        _ result: Result<MediaPlaylist, StreamingError>
    ) -> String {
        plan.tracks[kind].source = source
        if load(source, for: kind) { return "known" }
        guard case .loading(let request) = plan.tracks[kind].load else { return "no load" }
        _ = effects()
        _ = sink.takeChange()
        return receive(result, for: request.number)
    }

    /// Begins the reload that is due.
    mutating func beginReload(_ kind: TrackKind = .main) {
        let moment = moment
        follower.beginReload(for: kind, &plan, moment, &sink)
    }

    /// Begins the reload that is due, and delivers the response at `end`; returns the consequence as text.
    mutating func answerReload(
        _ kind: TrackKind = .main,
        at start: Int,
        end: Int? = nil,
        _ result: Result<MediaPlaylist, StreamingError>,
        _ request: ResourceRequest? = nil
    ) -> String {
        now = .seconds(start)
        beginReload(kind)
        guard let number = plan.tracks[kind].reloads.inProgress?.number else { return "no reload" }
        _ = effects()
        _ = sink.takeChange()
        now = .seconds(end ?? start)
        return receive(result, for: number, request)
    }

    /// Begins a switch of the main track to a source.
    mutating func beginSwitch(to source: StreamSource) throws {
        let variant = try #require(plan.catalog.variant(of: source))
        let moment = moment
        plan.tracks.main.source = source
        plan.beginSwitch(to: variant, cause: "test", moment, &sink)
    }

    /// Renews the addresses after the first variant failed, without success; returns whether that is allowed.
    mutating func renew() -> Bool {
        let beginning = plan.catalog.renewal.begin(after: 403, of: .playlist, from: low, nextRequest: { 99 })
        guard beginning == .begun(request: 99) else { return false }
        return plan.catalog.renewal.end(99, with: nil)
    }

    // MARK: Effects

    /// Removes the effects; returns the requests for playlists, and the reports of the others.
    mutating func effects() -> [String] {
        sink.takeEffects(with: nil).compactMap { effect in
            switch effect {
            case .report(let event): Self.text(event.kind)
            case .begin(.loadPlaylist(let request, let resource, _)):
                "load \(request) \(resource.address.text.dropFirst("https://example.com/".count))"
            case .begin(.reopen(let request)): "reopen \(request)"
            default: nil
            }
        }
    }

    private static func text(_ kind: PlaybackEvent.Kind) -> String {
        if case .variantSwitchStarted(let change) = kind { return "switch \(change.cause)" }
        if case .variantSwitched(_, let succeeded) = kind { return succeeded ? "played" : "failed switch" }
        if case .resourceRequest(let request) = kind { return "request \(request.mediaType?.rawValue ?? "none")" }
        return kind.name
    }
}
