import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Testing

@testable import StreamingEngine

/// Tests of the state of content steering, apart from complete sessions.
@Suite struct SteeringStateTests {
    private static let address = ResourceAddress("https://steer.example/s.json")

    private static func presentation() throws -> Presentation {
        Presentation(
            try multivariant(
                """
                #EXTM3U
                #EXT-X-CONTENT-STEERING:SERVER-URI="https://steer.example/s.json"
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,PATHWAY-ID="a"
                a.m3u8
                #EXT-X-STREAM-INF:BANDWIDTH=1000000,PATHWAY-ID="b"
                b.m3u8
                """
            )
        )
    }

    private static func manifest(_ priority: [String], _ members: String = "") throws -> SteeringManifest {
        let pathways = priority.map { "\"\($0)\"" }.joined(separator: ",")
        let text = "{\"VERSION\":1,\(members)\"PATHWAY-PRIORITY\":[\(pathways)]}"
        return try SteeringManifest(parsing: Array(text.utf8), at: address)
    }

    private static func opened() throws -> ContentSteeringState {
        var state = ContentSteeringState()
        state.open(try presentation(), at: .zero)
        return state
    }

    private static func begin(_ state: inout ContentSteeringState, request: Int, at seconds: Double) -> Int? {
        state.beginLoad(at: .seconds(seconds), pathwayID: nil, throughput: nil, nextRequest: { request })?.request
    }

    /// Returns the state after a manifest with an order of pathways was loaded.
    private static func steered(_ priority: [String]) throws -> ContentSteeringState {
        var state = try opened()
        _ = begin(&state, request: 1, at: 0)
        let manifest = try manifest(priority)
        _ = state.endLoad(1, with: .success(manifest), at: .zero)
        return state
    }

    // MARK: Loads

    @Test func theManifestIsLoadedAgainOnceItExpires() throws {
        var state = try Self.opened()
        #expect(state.isActive && state.nextLoad == .zero)
        #expect(Self.begin(&state, request: 1, at: 0) == 1)
        #expect(state.nextLoad == nil && Self.begin(&state, request: 2, at: 0) == nil)
        let manifest = try Self.manifest(["a"], "\"TTL\":60,")
        // The response to another request changes nothing.
        #expect(state.endLoad(2, with: .success(manifest), at: .zero) == nil && state.nextLoad == nil)
        #expect(state.endLoad(1, with: .success(manifest), at: .seconds(2)) == manifest)
        #expect(state.nextLoad == .seconds(62))
        #expect(Self.begin(&state, request: 2, at: 61.9) == nil)
        #expect(Self.begin(&state, request: 2, at: 62) == 2)
    }

    @Test(arguments: [(429, 100_000, 86_400), (429, 7, 7), (503, 7, 300)])
    func theDelayThatTheServerRequestsIsLimited(status: Int, requested: Int, delay: Int) throws {
        var state = try Self.opened()
        _ = Self.begin(&state, request: 1, at: 0)
        let error = TransportError(
            .status,
            "status \(status)",
            address: Self.address,
            status: status,
            retryAfter: .seconds(requested)
        )
        let failure = StreamingError(error, "the steering manifest")
        #expect(state.endLoad(1, with: .failure(failure), at: .seconds(10)) == nil)
        #expect(state.nextLoad == .seconds(10 + delay))
    }

    // MARK: Pathways

    @Test func aPathwayThatFailedIsPreferredAgainAfterTwoMinutes() throws {
        var state = try Self.steered(["a", "b"])
        let available = ["a", "b"]
        #expect(state.choosePathway(among: available, at: .zero) && state.pathwayID == "a")
        #expect(!state.choosePathway(among: available, at: .zero) && state.pathwayID == "a")
        state.penalize("a", at: .seconds(10))
        #expect(state.choosePathway(among: available, at: .seconds(10)) && state.pathwayID == "b")
        #expect(!state.choosePathway(among: available, at: .seconds(129.9)) && state.pathwayID == "b")
        #expect(state.choosePathway(among: available, at: .seconds(130)) && state.pathwayID == "a")
    }

    @Test func theFirstPathwayIsUsedIfAllFailed() throws {
        var state = try Self.steered(["b", "a"])
        for pathway in ["a", "b"] { state.penalize(pathway, at: .zero) }
        #expect(state.choosePathway(among: ["a", "b"], at: .seconds(1)) && state.pathwayID == "b")
    }

    @Test func withoutAManifestAPathwayIsChosenOnlyAfterAFailure() throws {
        var state = try Self.opened()
        #expect(!state.choosePathway(among: ["a", "b"], at: .zero) && state.pathwayID == nil)
        state.penalize("a", at: .zero)
        #expect(state.choosePathway(among: ["a", "b"], at: .seconds(1)) && state.pathwayID == "b")
        var inactive = ContentSteeringState()
        inactive.penalize("a", at: .zero)
        #expect(!inactive.choosePathway(among: ["a", "b"], at: .seconds(1)) && inactive.pathwayID == nil)
    }

    @Test func pathwaysThatTheManifestDoesNotNameAreTheLast() throws {
        var state = try Self.steered(["x", "b"])
        #expect(state.choosePathway(among: ["a", "b"], at: .zero) && state.pathwayID == "b")
    }

    @Test func aPathwayThatFailedRanksAfterAllOthers() throws {
        var state = try Self.steered(["a", "b", "c"])
        state.penalize("a", at: .zero)
        #expect(state.choosePathway(among: ["a", "b", "c", "d"], at: .seconds(1)) && state.pathwayID == "b")
        let ranks = ["a", "b", "c", "d"].map { state.rank(of: $0, at: .seconds(1)) }
        #expect(ranks == [5, 0, 3, 4])
        #expect(state.rank(of: "a", at: .seconds(120)) == 1)
    }

    @Test func aChangeOfThePathwayIsReportedWithTheFormerOne() {
        var state = ContentSteeringState()
        #expect(state.notePathway("a") == nil && state.notePathway("a") == nil)
        #expect(state.notePathway("b") == "a" && state.notePathway("b") == nil)
        #expect(state.reportedPathwayID == "b")
    }

    // MARK: Clones

    private static func clone(_ base: String, _ id: String, _ replacement: String = "") -> String {
        "{\"BASE-ID\":\"\(base)\",\"ID\":\"\(id)\",\"URI-REPLACEMENT\":{\(replacement)}}"
    }

    @Test func sixtyFourClonesAreAdded() throws {
        let presentation = try Self.presentation()
        var clones = PathwayClones()
        for batch in 0..<3 {
            let members = (0..<32).map { Self.clone("a", "c\(batch)-\($0)") }.joined(separator: ",")
            let manifest = try Self.manifest(["a"], "\"PATHWAY-CLONES\":[\(members)],")
            clones.add(manifest.clones, to: presentation, AddressRenewal())
        }
        #expect(clones.pathways.count == 64 && clones.pathways.last == "c1-31")
        let variant = try #require(presentation.variants.first)
        #expect(clones.allLocations(of: variant, AddressRenewal()).count == 66)
    }

    @Test func aCloneSetsUpToSixtyFourParameters() throws {
        func cloneCount(_ count: Int) throws -> Int {
            let parameters = (0..<count).map { "\"p\($0)\":\"v\"" }.joined(separator: ",")
            let written = Self.clone("a", "c", "\"PARAMS\":{\(parameters)}")
            return try Self.manifest(["a"], "\"PATHWAY-CLONES\":[\(written)],").clones.count
        }
        #expect(try cloneCount(64) == 1)
        #expect(try cloneCount(65) == 0)
    }

    @Test func aManifestOfOneMebibyteIsRead() throws {
        let text = #"{"VERSION":1,"PATHWAY-PRIORITY":["a"]}"#
        func parse(_ size: Int) throws -> SteeringManifest {
            let padding = [UInt8](repeating: 0x20, count: size - text.utf8.count)
            return try SteeringManifest(parsing: Array(text.utf8) + padding, at: Self.address)
        }
        #expect(try parse(1 << 20).pathwayPriority == ["a"])
        #expect(throws: StreamingError.self) { try parse((1 << 20) + 1) }
    }
}
