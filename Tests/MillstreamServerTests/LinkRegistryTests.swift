import HTTPTypes
import Hummingbird
import MediaTiming
import MediaTransport
import MillstreamTesting
import NIOCore
import NetworkConditioning
import ReportFormat
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct LinkRegistryTests {
    private let time = ManualTime()
    private let registry: LinkRegistry

    init() { registry = LinkRegistry(shared: .off, time: time) }

    private func stream(_ number: Int = 0, _ conditions: String = "3G") -> LinkRegistry.Stream {
        LinkRegistry.Stream(source: ResourceAddress("https://h/\(number).m3u8"), conditions: conditions)
    }

    private func link(_ number: Int = 0) throws -> ConditionedLink {
        try registry.link("id\(number)", for: stream(number))
    }

    @Test func conditionsAreFoundByName() throws {
        #expect(try registry.profile("3G").name == "3G")
        #expect(try registry.profile("very-bad-network").name == "Very Bad Network")
        // Forms encode spaces as plus signs.
        #expect(try registry.profile("Very+Bad+Network").name == "Very Bad Network")
        #expect(throws: ServerError.self) { try registry.profile("") }
        let error = #expect(throws: ServerError.self) {
            try registry.profile("0123456789012345678901234567890123456789012345678901234567890123")
        }
        #expect(error?.status == .badRequest && error?.code == "unknown-conditions")
        #expect(
            error?.message
                == "there are no conditions named 012345678901234567890123456789012345678901234567890123456789"
        )
        #expect(
            error?.hint
                == "the conditions are \(LinkProfile.presets.map(\.name).joined(separator: ", "))"
        )
    }

    /// The conditions of a file are named as presets are, also after those of all streams were changed.
    @Test(arguments: ["my network", "3G"]) func conditionsOfTheServerAreFoundByName(name: String) throws {
        let own = LinkProfile(name: name, down: .init(latency: .milliseconds(7)))
        let registry = LinkRegistry(shared: own, time: time)
        #expect(try registry.profile(name) == own)
        #expect(try registry.profile(name.replacing(" ", with: "+")) == own)
        #expect(try registry.link("a", for: stream(0, name)).profile == own)
        try registry.change(nil, to: "EDGE")
        let names = (name == "3G" ? [] : [name]) + LinkProfile.presets.map(\.name)
        let list = names.map { "\"\($0)\"" }.joined(separator: ",")
        #expect(registry.report.json.hasPrefix(#"{"presets":[\#(list)],"shared":"EDGE","links":["#))
        try registry.change(nil, to: name)
        #expect(registry.shared.profile == own)
        #expect(throws: ServerError.self) { try registry.profile("6G") }
    }

    @Test func linkForUnknownConditionsIsRefused() {
        for name in ["6G", ""] {
            let error = #expect(throws: ServerError.self) { try registry.link("a", for: stream(0, name)) }
            #expect(error?.code == "unknown-conditions")
        }
    }

    @Test func identifierOfAStreamDependsOnItsSourceAndConditions() {
        let first = LinkRegistry.identifier(stream(0, "3G"))
        #expect(first == LinkRegistry.identifier(stream(0, "3G")))
        #expect(first != LinkRegistry.identifier(stream(1, "3G")) && first != LinkRegistry.identifier(stream(0, "DSL")))
        #expect(
            (1...13).contains(first.count) && first.allSatisfy { "0123456789abcdefghijklmnopqrstuvwxyz".contains($0) }
        )
    }

    @Test func streamKeepsItsLinkWhileItIsUsed() throws {
        let first = try link()
        #expect(first.profile.name == "3G")
        for _ in 0..<3 {
            time.advance(by: .milliseconds(599_999))
            #expect(try link() === first)
        }
        time.advance(by: .seconds(600))
        let second = try link()
        #expect(second !== first && second.profile.name == "3G")
    }

    @Test func changedLinkIsKeptLonger() throws {
        let first = try link()
        try registry.change(stream(0), to: "LTE")
        #expect(first.profile.name == "LTE")
        time.advance(by: .milliseconds(21_599_999))
        #expect(try link() === first)
        time.advance(by: .seconds(21_600))
        let second = try link()
        #expect(second !== first && second.profile.name == "3G")
    }

    @Test func leastRecentlyUsedLinkIsEvicted() throws {
        let links = try (0..<256).map { number in
            time.advance(by: .seconds(1))
            return try link(number)
        }
        time.advance(by: .seconds(1))
        // Link 0 has just been used, so link 1 is the least recently used.
        #expect(try link(0) === links[0])
        _ = try link(256)
        #expect(report.links.count == 256 && !report.links.contains("id1"))
        #expect(try link(0) === links[0])
        #expect(try link(2) === links[2] && link(255) === links[255])
        #expect(try link(1) !== links[1])
    }

    private var report: (links: [String], json: String) {
        let json = registry.report.json
        return (json.matches(of: /"id":"([a-z0-9]+)"/).map { String($0.1) }, json)
    }

    @Test func sharedConditionsCanBeChanged() throws {
        #expect(registry.shared.profile == .off)
        try registry.change(nil, to: "DSL")
        #expect(registry.shared.profile.name == "DSL")
        let error = #expect(throws: ServerError.self) { try registry.change(nil, to: "6G") }
        #expect(error?.code == "unknown-conditions" && registry.shared.profile.name == "DSL")
    }

    /// A link with the conditions of all streams changes with them, until it has conditions of its own.
    @Test func linkFollowsTheSharedConditions() throws {
        let follower = try registry.link("a", for: stream(0, "default"))
        let other = try link(1)
        #expect(follower !== registry.shared && follower.profile == .off)
        try registry.change(nil, to: "DSL")
        #expect(follower.profile.name == "DSL" && other.profile.name == "3G")
        #expect(report.json.contains(#""named":"default","conditions":"DSL","default":true,"#))
        try registry.change(link: "a", to: "LTE")
        try registry.change(nil, to: "EDGE")
        #expect(follower.profile.name == "LTE" && !report.json.contains(#""default":true"#))
        try registry.change(link: "a", to: "default")
        #expect(follower.profile.name == "EDGE")
        try registry.change(stream(1), to: "default")
        #expect(other.profile.name == "EDGE")
        try registry.change(nil, to: "WiFi")
        #expect(follower.profile.name == "WiFi" && other.profile.name == "WiFi")
        // The shared conditions cannot follow themselves, and only existing links can be changed.
        let unknown = #expect(throws: ServerError.self) { try registry.change(nil, to: "default") }
        #expect(unknown?.code == "unknown-conditions")
        let missing = #expect(throws: ServerError.self) { try registry.change(link: "b", to: "DSL") }
        #expect(missing?.status == .notFound && missing?.code == "not-found")
    }

    @Test func linkIsChangedByTheAddressThatTheReportHas() throws {
        let source = ResourceAddress("https://me:secret@h/0.m3u8")
        let stream = LinkRegistry.Stream(source: source, conditions: "3G")
        let secret = try registry.link(LinkRegistry.identifier(stream), for: stream)
        #expect(report.json.contains(#""url":"https://h/0.m3u8""#) && !report.json.contains("secret"))
        try registry.change(self.stream(0), to: "LTE")
        #expect(secret.profile.name == "LTE")
        #expect(throws: ServerError.self) { try registry.change(self.stream(0, "DSL"), to: "LTE") }
        // The link of exactly this address is preferred.
        let plain = try registry.link(LinkRegistry.identifier(self.stream(0)), for: self.stream(0))
        try registry.change(self.stream(0), to: "DSL")
        #expect(plain.profile.name == "DSL" && secret.profile.name == "LTE")
    }

    @Test func onlyExistingLinksCanBeChanged() throws {
        _ = try link()
        let missing = #expect(throws: ServerError.self) { try registry.change(stream(1), to: "DSL") }
        #expect(missing?.status == .notFound && missing?.code == "not-found")
        #expect(throws: ServerError.self) { try registry.change(stream(0), to: "6G") }
        #expect(try link().profile.name == "3G" && registry.shared.profile == .off)
        #expect(throws: ServerError.self) { try registry.link("x", for: stream(0, "6G")) }
    }

    @Test func reportListsLinksInTheOrderOfTheirIdentifiers() throws {
        _ = try link(1)
        _ = try link(0)
        try registry.change(stream(1), to: "LTE")
        let presets = LinkProfile.presets.map { "\"\($0.name)\"" }
        #expect(
            report.json == #"{"presets":[\#(presets.joined(separator: ","))],"shared":"Off","links":["#
                + #"{"id":"id0","url":"https://h/0.m3u8","named":"3G","conditions":"3G","transmittedBytes":0},"#
                + #"{"id":"id1","url":"https://h/1.m3u8","named":"3G","conditions":"LTE","transmittedBytes":0}]}"#
        )
    }

    /// A link that loses all packets times out after a minute.
    @Test func requestsTimeOutAfterAMinute() async throws {
        let simulation = Simulation()
        let registry = LinkRegistry(shared: try #require(LinkProfile(preset: "100% Loss")), time: simulation)
        let links = [registry.shared, try registry.link("x", for: stream(0, "100% Loss"))]
        try await simulation.run {
            for link in links {
                let begun = simulation.now
                var flow = LinkModel.Flow()
                await #expect(throws: TransportError.self) { try await link.transmitHead(.up, of: &flow) }
                #expect(simulation.now - begun == .seconds(60))
            }
        }
    }
}

@Suite struct LinkParametersTests {
    private let source = ResourceAddress("https://h/a.m3u8")

    private func request(_ query: String) -> LinkParameters? {
        LinkParameters(QueryItems(query), source: source)
    }

    @Test func addressWithoutConditionsHasNoLink() {
        #expect(request("url=x") == nil && request("link=abc") == nil)
    }

    @Test(arguments: ["a", "z", "0", "9", "abcdef0123456789"])
    func linkIdentifierInTheAddressIsUsed(id: String) throws {
        let link = try #require(request("conditions=very+bad-network&link=\(id)"))
        #expect(link.id == id && link.conditions == "very+bad-network")
        #expect(
            link.items == [
                QueryItems.Item(name: "conditions", value: "very+bad-network"),
                QueryItems.Item(name: "link", value: id),
            ]
        )
    }

    @Test(arguments: [
        "", "&link=", "&link=A", "&link=/", "&link=:", "&link=%60", "&link=%7B", "&link=a-b",
        "&link=abcdef01234567890", "&link=%C3%A4",
    ])
    func invalidLinkIdentifierIsReplacedByThatOfTheSource(item: String) {
        let id = LinkRegistry.identifier(LinkRegistry.Stream(source: source, conditions: "3G"))
        #expect(request("conditions=3G" + item)?.id == id)
    }
}

/// Tests the effect of a link on responses, in simulated time.
@Suite(.timeLimit(.minutes(10))) struct LinkConditioningTests {
    private let simulation = Simulation()

    private func link(
        down: LinkProfile.DirectionConditions = .init(),
        up: LinkProfile.DirectionConditions = .init(),
        dnsDelay: Duration = .zero
    ) -> ConditionedLink {
        ConditionedLink(LinkProfile(name: "test", down: down, up: up, dnsDelay: dnsDelay), time: simulation)
    }

    private func carry(
        over link: ConditionedLink?,
        _ next: @escaping @Sendable @concurrent (Request, BasicRequestContext) async throws -> Response
    ) async throws -> Response {
        try await LinkConditioning<BasicRequestContext> { _ in link }
            .handle(.get("/a"), context: .detached(), next: next)
    }

    @Test func responseWithoutALinkIsUnchanged() async throws {
        let response = try await carry(over: nil) { request, _ in
            Response(status: .accepted, body: ResponseBody(byteBuffer: ByteBuffer(string: request.uri.path)))
        }
        #expect(response.status == .accepted)
        #expect(try await response.body.recorded().text == "/a")
    }

    /// The request has the lookup delay and the uplink latency, the response has the downlink latency, and the body has
    /// the bandwidth.
    @Test func delaysApplyToRequestResponseAndBody() async throws {
        let link = link(
            down: .init(bandwidth: BitRate(bitsPerSecond: 8_000), latency: .milliseconds(300)),
            up: .init(latency: .milliseconds(200)),
            dnsDelay: .seconds(3)
        )
        let simulation = simulation
        try await simulation.run {
            let response = try await carry(over: link) { _, _ in
                #expect(simulation.now == .milliseconds(3_200))
                return Response(
                    status: .partialContent,
                    headers: [.contentType: "video/mp2t"],
                    body: ResponseBody(byteBuffer: ByteBuffer(repeating: 7, count: 10_000))
                )
            }
            #expect(simulation.now == .milliseconds(3_500))
            #expect(response.status == .partialContent && response.headers[.contentType] == "video/mp2t")
            #expect(response.body.contentLength == 10_000)
            let body = try await response.body.recorded()
            #expect(body.bytes == [UInt8](repeating: 7, count: 10_000) && body.isFinished)
            #expect(simulation.now == .milliseconds(13_500))
            // The host name is cached now.
            _ = try await carry(over: link) { _, _ in Response(status: .ok) }
            #expect(simulation.now == .seconds(14))
        }
    }

    @Test func errorResponseHasLatencyToo() async throws {
        let link = link(down: .init(latency: .milliseconds(300)), up: .init(latency: .milliseconds(200)))
        let simulation = simulation
        try await simulation.run {
            let error = await #expect(throws: ServerError.self) {
                try await carry(over: link) { _, _ in throw ServerError(.notFound, "not-found", "nothing") }
            }
            #expect(error?.code == "not-found" && simulation.now == .milliseconds(500))
        }
    }

    @Test func connectionEndsWithoutAResponseIfAllPacketsAreLost() async throws {
        let links = [link(up: .init(loss: 1)), link(down: .init(loss: 1))]
        try await simulation.run {
            for link in links {
                let response = try await carry(over: link) { _, _ in Response(status: .notFound) }
                #expect(response.status == .ok && response.headers[.contentType] == "application/octet-stream")
                #expect(response.body.contentLength == 1)
                let (body, error) = await response.body.recordedWithError()
                #expect((error as? TransportError)?.code == .timedOut && body.bytes.isEmpty && !body.isFinished)
            }
        }
    }

    @Test func errorOfABodyIsPassedThroughTheLink() async throws {
        struct Failure: Error {}
        let link = link(down: .init(latency: .milliseconds(300)))
        try await simulation.run {
            let response = try await carry(over: link) { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        try await writer.write(ByteBuffer(string: "begin"))
                        throw Failure()
                    }
                )
            }
            #expect(response.body.contentLength == nil)
            let (body, error) = await response.body.recordedWithError()
            #expect(error is Failure && body.text == "begin" && !body.isFinished)
        }
    }

    /// If the client disconnects, writing of the response ends.
    @Test func bodyEndsWhenItsReaderIsReleased() async throws {
        let link = link(down: .init(bandwidth: BitRate(bitsPerSecond: 8)))
        try await simulation.run {
            let (ends, end) = AsyncStream<Void>.makeStream()
            var response: Response? = try await carry(over: link) { _, _ in
                Response(
                    status: .ok,
                    body: ResponseBody { writer in
                        defer { end.finish() }
                        while true { try await writer.write(ByteBuffer(repeating: 1, count: 65_536)) }
                    }
                )
            }
            #expect(response?.status == .ok)
            response = nil
            for await _ in ends {}
        }
    }

    /// The requested conditions may not exist.
    @Test func errorOfTheLinkSelectionIsPassedOn() async {
        let conditioning = LinkConditioning<BasicRequestContext> { _ in
            throw ServerError(.badRequest, "unknown-conditions", "none")
        }
        let error = await #expect(throws: ServerError.self) {
            try await conditioning.handle(.get("/a"), context: .detached()) { _, _ in Response(status: .ok) }
        }
        #expect(error?.code == "unknown-conditions")
    }
}
