import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the addresses on pathway clones, and of the effects of a steering manifest on the tracks.
@Suite struct PathwayEdgeTests {
    private static let address = ResourceAddress("https://steer.example/a/steer.json")

    private static func manifest(
        _ replacement: String,
        id: String = "c",
        base: String = "a"
    ) throws -> SteeringManifest {
        let clone = "{\"BASE-ID\":\"\(base)\",\"ID\":\"\(id)\",\"URI-REPLACEMENT\":{\(replacement)}}"
        let text = "{\"VERSION\":1,\"PATHWAY-PRIORITY\":[\"b\"],\"PATHWAY-CLONES\":[\(clone)]}"
        return try SteeringManifest(parsing: Array(text.utf8), at: address)
    }

    private static func clone(_ replacement: String, id: String = "c") throws -> PathwayClone? {
        try manifest(replacement, id: id).clones.first
    }

    /// Returns the address of a variant on a clone.
    private static func moved(_ address: String, _ replacement: String, stableID: String? = nil) throws -> String {
        let clone = try #require(try clone(replacement))
        let base = Presentation.Variant.Location(
            address: ResourceAddress(address),
            pathwayID: "a",
            groupIDs: [.audio: "g"]
        )
        let location = clone.location(base, stableID: stableID)
        #expect(location.pathwayID == "c" && location.groupIDs == [.audio: "g\"c"])
        return location.address.text
    }

    // MARK: Clones

    @Test(arguments: ["A", "z", "09", "a.b-c_d"]) func identifiersHaveLettersDigitsAndSigns(id: String) throws {
        #expect(try Self.clone("", id: id)?.id == id)
    }

    @Test(arguments: ["a b", "é", "a/b", "a:b", "a+"]) func otherIdentifiersAreInvalid(id: String) throws {
        #expect(try Self.clone("", id: id) == nil)
    }

    @Test func parametersAreSetInAlphabeticalOrder() throws {
        let parameters = #""PARAMS":{"c":"3","a":"1","":"0","e":"5","d":"4","b":"2"}"#
        #expect(try Self.moved("https://a.example/x", parameters) == "https://a.example/x?a=1&b=2&c=3&d=4&e=5")
        #expect(try Self.moved("https://a.example/x?b=0", parameters) == "https://a.example/x?b=2&a=1&c=3&d=4&e=5")
        #expect(try Self.moved("file:///x", parameters) == "file:///x")
    }

    @Test func anEmptyHostKeepsTheHost() throws {
        #expect(try Self.moved("https://a.example/x", "\"HOST\":\"\"") == "https://a.example/x")
        #expect(try Self.moved("https://a.example/x", #""HOST":"b.example""#) == "https://b.example/x")
    }

    @Test(
        arguments: [
            ("v", "https://steer.example/a/w.m3u8"), ("f", "https://b.example/x"), ("u", "https://b.example/x"),
            (nil, "https://b.example/x"),
        ] as [(String?, String)]
    )
    func aVariantMayHaveItsOwnAddress(stableID: String?, expected: String) throws {
        let replacement = #""HOST":"b.example","PER-VARIANT-URIS":{"v":"w.m3u8","f":"file:///w"}"#
        #expect(try Self.moved("https://a.example/x", replacement, stableID: stableID) == expected)
    }

    @Test(
        arguments: [
            ("https://a.example/x", "r", "https://steer.example/a/w.m3u8"),
            ("https://a.example/x", "v", "https://b.example/x"), ("https://a.example/x", nil, "https://b.example/x"),
            (nil, "r", nil),
        ] as [(String?, String?, String?)]
    )
    func aRenditionMayHaveItsOwnAddress(address: String?, stableID: String?, expected: String?) throws {
        let replacement = #""HOST":"b.example","PER-RENDITION-URIS":{"r":"w.m3u8"},"PER-VARIANT-URIS":{"v":"z.m3u8"}"#
        let clone = try #require(try Self.clone(replacement))
        let encoding = clone.encoding(
            MediaSelectionOption.Encoding(
                groupID: "g",
                address: address.map { ResourceAddress($0) },
                channels: nil,
                bitDepth: 24,
                sampleRate: 48_000,
                stableID: stableID
            )
        )
        #expect(encoding.address?.text == expected)
        #expect(encoding.groupID == "g\"c" && encoding.stableID == stableID)
        #expect(encoding.bitDepth == 24 && encoding.sampleRate == 48_000)
    }

    // MARK: Presentations

    /// The subtitles have the identifier of the audio group of the pathway `a`, which no variant has for subtitles.
    private static func presentation() throws -> Presentation {
        Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-CONTENT-STEERING:SERVER-URI="https://steer.example/a/steer.json"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="ga",NAME="E",URI="ea.m3u8"
                #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="gb",NAME="E",URI="eb.m3u8"
                #EXT-X-MEDIA:TYPE=SUBTITLES,GROUP-ID="ga",NAME="S",URI="s.m3u8"
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="ga",PATHWAY-ID="a"
                va.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1,AUDIO="gb",PATHWAY-ID="b"
                vb.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=2,PATHWAY-ID="b"
                wb.m3u8
                #EXT-X-I-FRAME-STREAM-INF:BANDWIDTH=1,PATHWAY-ID="a",URI="ia.m3u8"
                """
            )
        )
    }

    @Test func allMediaOfThePathwayIsCloned() throws {
        let presentation = try Self.presentation()
        try #require(presentation.variants.count == 2 && presentation.iFrameVariants.count == 1)
        let renewal = AddressRenewal()
        var clones = PathwayClones()
        func pathways(_ variant: Presentation.Variant) -> [String] {
            clones.allLocations(of: variant, renewal).map(\.pathwayID)
        }
        clones.update(presentation, renewal)
        #expect(pathways(presentation.variants[0]) == ["a", "b"] && clones.pathways == [])
        clones.add(try Self.manifest("\"HOST\":\"c.example\"").clones, to: presentation, renewal)
        #expect(clones.pathways == ["c"])
        #expect(pathways(presentation.variants[0]) == ["a", "b", "c"])
        #expect(pathways(presentation.variants[1]) == ["b"])
        #expect(pathways(presentation.iFrameVariants[0]) == ["a", "c"])
        let audio = try #require(presentation.group(.audio)?.options.first)
        let addresses = clones.current(audio, renewal).encodings.map { $0.address?.text }
        #expect(
            addresses == [
                "https://example.com/ea.m3u8", "https://example.com/eb.m3u8", "https://c.example/ea.m3u8",
            ]
        )
        let subtitles = try #require(presentation.group(.subtitles)?.options.first)
        #expect(clones.current(subtitles, renewal).encodings.count == 1)
        // A second derivation replaces the first one.
        clones.update(presentation, renewal)
        #expect(pathways(presentation.variants[0]) == ["a", "b", "c"])
        #expect(clones.current(audio, renewal).encodings.count == 3)
    }

    @Test func aCloneOfAnUnknownOrWithAnExistingPathwayIsIgnored() throws {
        let presentation = try Self.presentation()
        var clones = PathwayClones()
        for (id, base) in [("c", "x"), ("b", "a"), ("c", "a"), ("d", "c"), ("c", "b")] {
            clones.add(try Self.manifest("", id: id, base: base).clones, to: presentation, AddressRenewal())
        }
        #expect(clones.pathways == ["c", "d"])
    }

    // MARK: Tracks

    private static func plan() throws -> FetchPlan {
        let presentation = try presentation()
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        let variant = try #require(presentation.variants.first)
        plan.tracks.main.source = plan.catalog.sources(of: variant).first
        plan.tracks.main.isVariantDecided = true
        return plan
    }

    private func kinds(_ sink: inout EffectSink) -> [String] {
        sink.takeEffects(with: nil).map { effect in
            switch effect {
            case .report(let event): event.kind.name
            case .begin(.loadSteeringManifest(let request, let address)): "load \(request) \(address.text)"
            default: "other"
            }
        }
    }

    @Test func theNextSegmentIsDecidedAgainAfterAManifest() throws {
        var plan = try Self.plan()
        var sink = EffectSink(now: .zero)
        PathwaySteering.loadManifest(&plan, &sink)
        PathwaySteering.loadManifest(&plan, &sink)
        let begun = kinds(&sink)
        #expect(begun == ["load 1 https://steer.example/a/steer.json?_HLS_pathway=%22a%22"])
        let manifest = try Self.manifest("")
        PathwaySteering.receive(.success(manifest), for: 2, &plan, &sink)
        let isIgnored = !sink.takeChange()
        #expect(isIgnored && plan.tracks.main.isVariantDecided && plan.catalog.steering.pathwayID == nil)
        PathwaySteering.receive(.success(manifest), for: 1, &plan, &sink)
        let isChanged = sink.takeChange()
        #expect(isChanged && !plan.tracks.main.isVariantDecided && plan.catalog.steering.pathwayID == "b")
        let variant = try #require(plan.catalog.presentation?.variants.first)
        let locations = plan.catalog.orderedSources(of: variant, at: .zero).map { plan.catalog.pathwayID(of: $0) }
        #expect(locations == ["b", "a", "c"])
        #expect(kinds(&sink) == [])
    }

    /// A variant that replaces one that failed is not selected again.
    @Test func aVariantThatReplacesAnotherRemainsDecided() throws {
        var plan = try Self.plan()
        var sink = EffectSink(now: .zero)
        PathwaySteering.loadManifest(&plan, &sink)
        plan.tracks.main.failures.tried = Set([plan.tracks.main.source].compactMap(\.self))
        let manifest = try Self.manifest("")
        PathwaySteering.receive(.success(manifest), for: 1, &plan, &sink)
        #expect(plan.tracks.main.isVariantDecided && plan.catalog.steering.pathwayID == "b")
    }

    @Test func aFailureIsReportedAndChangesNothing() throws {
        var plan = try Self.plan()
        var sink = EffectSink(now: .zero)
        PathwaySteering.loadManifest(&plan, &sink)
        _ = kinds(&sink)
        PathwaySteering.receive(.failure(StreamingError(.notLoaded, "no")), for: 1, &plan, &sink)
        let isChanged = sink.takeChange()
        let reports = kinds(&sink)
        #expect(!isChanged && reports == ["error"] && plan.tracks.main.isVariantDecided)
        #expect(plan.catalog.steering.nextLoad == .seconds(300))
    }

    @Test func theSecondPathwayIsReported() throws {
        var plan = try Self.plan()
        var sink = EffectSink(now: .zero)
        PathwaySteering.reportPathway(&plan, &sink)
        let first = sink.takeEffects(with: nil)
        #expect(first.isEmpty)
        let variant = try #require(plan.catalog.presentation?.variants.first)
        plan.tracks.main.source = plan.catalog.sources(of: variant).last
        PathwaySteering.reportPathway(&plan, &sink)
        PathwaySteering.reportPathway(&plan, &sink)
        let changes = sink.takeEffects(with: nil).compactMap { effect -> String? in
            guard case .report(let event) = effect, case .pathwayChanged(let from, let to) = event.kind else {
                return nil
            }
            return "\(from) \(to)"
        }
        #expect(changes == ["a b"])
    }

    @Test func withoutASteeringServerNoPathwayIsReported() throws {
        let lines = ["a", "b"].map { "#EXT-X-STREAM-INF:BANDWIDTH=1,PATHWAY-ID=\"\($0)\"\n\($0).m3u8\n" }
        let presentation = Presentation(try multivariant("#EXTM3U\n" + lines.joined()))
        var plan = FetchPlan(policy: RecoveryPolicy(), chooser: VariantChooser(StreamingOptions()))
        plan.catalog.open(presentation, MediaSelectionRules(), networkCost: nil, at: .zero)
        var sink = EffectSink(now: .zero)
        PathwaySteering.loadManifest(&plan, &sink)
        for source in plan.catalog.sources(of: try #require(presentation.variants.first)) {
            plan.tracks.main.source = source
            PathwaySteering.reportPathway(&plan, &sink)
        }
        let effects = sink.takeEffects(with: nil)
        #expect(effects.isEmpty && plan.catalog.steering.nextLoad == nil)
    }
}
