import DASHManifest
import DASHTranslation
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Testing

@testable import PresentationLoading

/// Tests when a manifest is loaded again, and from which URL.
///
/// Its load began at 100 s.
struct PresentationStateTests {
    private static let session = ResourceAddress(TestOrigin.address)
    /// The time of day at which manifests are translated, and at which manifests with a patch were published.
    private static let date = MediaTime(seconds: 1_704_067_800)

    private static func presentation(
        _ text: String,
        at address: String? = TestOrigin.address
    ) throws -> MediaPresentation {
        let bytes = Array(text.utf8)
        return try MediaPresentation(parsing: bytes.span, address: address.map { ResourceAddress($0) })
    }

    private static func state(_ text: String, at address: String? = TestOrigin.address) throws -> PresentationState {
        var state = PresentationState(translator: PresentationTranslator())
        state.presentation = try presentation(text, at: address)
        state.loadTime = .seconds(100)
        return state
    }

    /// Returns the state of a dynamic presentation with an update period.
    private static func live(period: String?) throws -> PresentationState {
        let attributes = period.map { #"minimumUpdatePeriod="\#($0)""# } ?? ""
        return try state(TestOrigin.liveManifest(attributes: attributes))
    }

    private static func manifest(byteCount: Int) -> PresentationSession.LoadedManifest {
        PresentationSession.LoadedManifest(Array(repeating: 0, count: byteCount), address: session)
    }

    /// Stores the translation of a manifest; all playlists of a static one are complete.
    private static func translate(_ text: String, into state: inout PresentationState) throws {
        let translation = try state.translator.translate(try presentation(text), at: date)
        state.outcome = .translated(translation, at: .seconds(100))
    }

    private static let failure = TransportError(.unreadableManifest, "no")

    // MARK: Reloads

    @Test func aManifestThatWasNotLoadedIsLoaded() {
        let state = PresentationState(translator: PresentationTranslator())
        #expect(state.isReloadDue(at: .zero, staticLifetime: nil))
        #expect(state.isReloadDue(at: .zero, staticLifetime: .seconds(60)))
    }

    @Test(
        arguments: [
            (159.999, 60.0, false), (160, 60, true), (161, 60, true), (100, 0, true), (1_000_000, nil, false),
        ] as [(Double, Double?, Bool)]
    )
    func aStaticManifestIsLoadedAgainAfterItsLifetime(now: Double, lifetime: Double?, isDue: Bool) throws {
        var state = try Self.state(TestOrigin.staticManifest())
        let lifetime = lifetime.map { Duration.seconds($0) }
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: lifetime) == isDue)
        try Self.translate(TestOrigin.staticManifest(), into: &state)
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: lifetime) == isDue)
        state.outcome = .failed(Self.failure)
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: lifetime))
    }

    /// A manifest without a period does not change, and is loaded again only after a failure.
    @Test(
        arguments: [
            ("PT8S", 107.999, false, false), ("PT8S", 108, true, true), ("PT8S", 200, true, true),
            ("PT0S", 100.999, false, false), ("PT0S", 101, true, true), ("PT0.5S", 100.999, false, false),
            ("PT0.5S", 101, true, true), ("PT1.5S", 101.499, false, false), ("PT1.5S", 101.5, true, true),
            (nil, 100.999, false, false), (nil, 101, false, true), (nil, 1_000_000, false, true),
        ] as [(String?, Double, Bool, Bool)]
    )
    func aDynamicManifestIsLoadedAgainAfterItsPeriod(
        period: String?,
        now: Double,
        isDue: Bool,
        isDueAfterFailure: Bool
    ) throws {
        var state = try Self.live(period: period)
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: .zero) == isDue)
        try Self.translate(TestOrigin.liveManifest(), into: &state)
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: .zero) == isDue)
        state.outcome = .failed(Self.failure)
        #expect(state.isReloadDue(at: .seconds(now), staticLifetime: .zero) == isDueAfterFailure)
    }

    @Test func aDynamicManifestIsNotLoadedAgainOnceItsPlaylistsAreComplete() throws {
        var state = try Self.live(period: "PT8S")
        try Self.translate(TestOrigin.staticManifest(), into: &state)
        #expect(!state.isReloadDue(at: .seconds(1_000_000), staticLifetime: .zero))
        #expect(state.updateInterval == nil)
    }

    @Test(
        arguments: [(nil, true), (-500.001, true), (-500, true), (-499.999, false), (100, false)] as [(Double?, Bool)]
    )
    func theClockOfTheServerIsRequestedEveryTenMinutes(update: Double?, isDue: Bool) {
        var clock = PresentationState.ServerClock()
        clock.updateTime = update.map { Duration.seconds($0) }
        #expect(clock.isUpdateDue(at: .seconds(100)) == isDue)
    }

    // MARK: Updates

    @Test(
        arguments: [
            ("PT0S", 1), ("PT0.5S", 1), ("PT1S", 1), ("PT8S", 8), ("PT60S", 60), ("PT61S", 60), ("PT1H", 60),
        ]
    )
    func theUpdateIntervalIsThatOfTheManifestWithinLimits(period: String, interval: Int) throws {
        #expect(try Self.live(period: period).updateInterval == .seconds(interval))
    }

    @Test func withoutAPeriodTheUpdateIntervalIsTheTargetDuration() throws {
        var state = try Self.live(period: nil)
        #expect(state.updateInterval == .seconds(1))
        try Self.translate(TestOrigin.liveManifest(), into: &state)
        let duration = state.translator.state.targetDuration
        #expect(duration > 1 && state.updateInterval == .seconds(duration))
    }

    @Test func whatDoesNotChangeHasNoUpdateInterval() throws {
        #expect(PresentationState(translator: PresentationTranslator()).updateInterval == nil)
        #expect(try Self.state(TestOrigin.staticManifest()).updateInterval == nil)
    }

    // MARK: Addresses

    @Test(
        arguments: [
            ([], "https://example.test/a/manifest"), ([""], "https://example.test/a/manifest"),
            (["next"], "https://example.test/a/next"), (["/next#part"], "https://example.test/next"),
            (["http://other.test/next", "last"], "http://other.test/next"),
            (["", "last"], "https://example.test/a/manifest"), (["file:///next"], "https://example.test/a/manifest"),
            (["data:,next"], "https://example.test/a/manifest"),
        ] as [([String], String)]
    )
    func theNextManifestIsLoadedFromTheFirstLocation(locations: [String], next: String) throws {
        let elements = locations.map { "<Location>\($0)</Location>" }.joined()
        let state = try Self.state(TestOrigin.liveManifest(elements))
        #expect(state.nextAddress(of: Self.session).text == next)
    }

    /// A manifest in a file leads only to files, and a relative URL leads nowhere.
    @Test(
        arguments: [
            ("file:///a/manifest", "next", "file:///a/next"),
            ("file:///a/manifest", "https://other.test/next", "https://example.test/a/manifest"),
            ("a/manifest", "next", "https://example.test/a/manifest"), (nil, "next", "https://example.test/a/manifest"),
        ] as [(String?, String, String)]
    )
    func aLocationDoesNotLeadFromFilesToTheNetwork(base: String?, location: String, next: String) throws {
        let state = try Self.state(TestOrigin.liveManifest("<Location>\(location)</Location>"), at: base)
        #expect(state.nextAddress(of: Self.session).text == next)
    }

    @Test func withoutAManifestTheSessionHasItsOwnURL() {
        let state = PresentationState(translator: PresentationTranslator())
        #expect(state.nextAddress(of: Self.session) == Self.session)
        #expect(state.nextPatch(at: Self.date) == nil)
    }

    private static func patchable(
        _ location: String,
        attributes: String = #"id="x""#,
        at address: String? = TestOrigin.address
    ) throws -> PresentationState {
        let attributes = #"\#(attributes) publishTime="2024-01-01T00:10:00Z" minimumUpdatePeriod="PT8S""#
        var state = try state(TestOrigin.liveManifest(location, attributes: attributes), at: address)
        state.patchable = manifest(byteCount: 1)
        return state
    }

    @Test(
        arguments: [
            ("patch#part", "https://example.test/a/patch"), ("http://other.test/patch", "http://other.test/patch"),
            ("file:///patch", nil), ("", nil),
        ] as [(String, String?)]
    )
    func aPatchIsLoadedFromItsLocation(location: String, patch: String?) throws {
        let state = try Self.patchable("<PatchLocation>\(location)</PatchLocation>")
        #expect(state.nextPatch(at: Self.date)?.text == patch)
    }

    @Test(arguments: [("0", true), ("10", true), ("10.001", false)])
    func aPatchIsAvailableForALimitedTime(age: String, isAvailable: Bool) throws {
        let state = try Self.patchable(#"<PatchLocation ttl="10">patch</PatchLocation>"#)
        let age = try #require(MediaTime(decimal: age))
        #expect((state.nextPatch(at: Self.date + age) != nil) == isAvailable)
    }

    @Test func thereIsNoPatchOfAManifestWithoutItsBytesItsIdentifierOrItsURL() throws {
        let location = "<PatchLocation>patch</PatchLocation>"
        var state = try Self.patchable(location)
        #expect(state.nextPatch(at: Self.date) != nil)
        state.patchable = nil
        #expect(state.nextPatch(at: Self.date) == nil)
        #expect(try Self.patchable(location, attributes: "").nextPatch(at: Self.date) == nil)
        let absolute = "<PatchLocation>https://example.test/a/patch</PatchLocation>"
        #expect(try Self.patchable(absolute, at: nil).nextPatch(at: Self.date) == nil)
        #expect(try Self.patchable(absolute, at: "file:///a/manifest").nextPatch(at: Self.date) == nil)
    }

    // MARK: Memory

    @Test func theMemoryIsThatOfAllParts() throws {
        var state = PresentationState(translator: PresentationTranslator())
        #expect(state.byteCount == 0)
        state.linked = (Self.manifest(byteCount: 7), Self.date)
        #expect(state.byteCount == 7)
        // Both are versions of the same manifest.
        state.patchable = Self.manifest(byteCount: 10)
        #expect(state.byteCount == 10)
        let presentation = try Self.presentation(TestOrigin.staticManifest())
        state.presentation = presentation
        #expect(presentation.memorySize > 0 && state.byteCount == 10 + presentation.memorySize)
        let range = try #require(ByteRange(start: 0, length: 1))
        let segment = IndexedSegment(time: .zero, duration: MediaTime(seconds: 4), byteRange: range)
        state.indexes.segments[AddressedResource(address: Self.session)] = IndexedFile([segment, segment, segment])
        let parts = 10 + presentation.memorySize + 3 * MemoryLayout<IndexedSegment>.stride
        #expect(state.byteCount == parts)
        state.outcome = .failed(Self.failure)
        #expect(state.byteCount == parts && state.translation == nil)
        try Self.translate(TestOrigin.staticManifest(), into: &state)
        let translation = try #require(state.translation)
        let texts = translation.playlists.reduce(translation.multivariant.bytes.count) { $0 + $1.bytes.count }
        #expect(!translation.playlists.isEmpty && state.byteCount == parts + texts)
    }

    @Test func aManifestThatCannotBeTranslatedLeavesOnlyItsAttributesAndItsLocation() throws {
        var state = try Self.state(TestOrigin.liveManifest("<Location>next</Location>"))
        state.patchable = Self.manifest(byteCount: 10)
        state.linked = (Self.manifest(byteCount: 7), Self.date)
        state.indexes.segments[AddressedResource(address: Self.session)] = IndexedFile([])
        state.indexes.failures[AddressedResource(address: Self.session)] = Self.failure
        let size = state.byteCount
        #expect(state.translation == nil)
        state.fail(Self.failure)
        let isFailed = if case .failed = state.outcome { true } else { false }
        #expect(isFailed && state.translation == nil && state.patchable == nil && state.linked == nil)
        #expect(state.indexes.segments.isEmpty && state.indexes.failures.isEmpty && state.events.messages.isEmpty)
        #expect(state.presentation?.periods.isEmpty == true && state.byteCount < size - 10)
        #expect(state.nextAddress(of: Self.session).text == "https://example.test/a/next")
        #expect(!state.isReloadDue(at: .seconds(107.999), staticLifetime: nil))
        #expect(state.isReloadDue(at: .seconds(108), staticLifetime: nil))
    }

    @Test func aFailureBeforeTheFirstManifestIsRecorded() {
        var state = PresentationState(translator: PresentationTranslator())
        state.fail(Self.failure)
        #expect(state.presentation == nil && state.isReloadDue(at: .zero, staticLifetime: nil))
    }
}
