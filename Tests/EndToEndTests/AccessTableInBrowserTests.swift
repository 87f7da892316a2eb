import Foundation
import MediaTransport
import MillstreamServer
import MillstreamTesting
import ResourceAddressing
import Testing

/// A request that a script sends, and how the result begins in the page of each class.
///
/// A result is the type of the response (`basic`, `cors` or `opaqueredirect`), its status, and the code of the error or
/// the body; or `blocked` if the browser does not let the page read the response.
private struct AccessRow {
    /// The classes of pages in the tables of the threat model.
    enum Page {
        case own
        case ofAnotherSite
        /// A page of a foreign name that leads to the server, which is part of the same site for the browser.
        case ofAnotherName
    }

    /// The path and query.
    let address: String
    /// The options of `fetch` as JSON.
    let options: String
    private let own: String
    private let anotherSite: String
    private let anotherName: String

    private init(_ address: String, _ options: String, _ own: String, _ anotherSite: String, _ anotherName: String) {
        self.address = address
        self.options = options
        self.own = own
        self.anotherSite = anotherSite
        self.anotherName = anotherName
    }

    /// A request that only the own page may send.
    static func owned(_ address: String, sent options: String = "{}", _ own: String) -> AccessRow {
        AccessRow(address, options, own, "blocked", "basic 403 foreign-host")
    }

    /// A request that every page may send, with a response that every page may read.
    static func media(_ address: String, sent options: String = "{}", _ result: String) -> AccessRow {
        AccessRow(address, options, "basic " + result, "cors " + result, "basic " + result)
    }

    /// A request that every page may send, with a response that is not readable for pages of other sites.
    static func unreadable(_ address: String, sent options: String = "{}", _ result: String) -> AccessRow {
        AccessRow(address, options, "basic " + result, "blocked", "basic " + result)
    }

    /// A request for media of a private host.
    static func privateHost(_ address: String, sent options: String = "{}", _ own: String) -> AccessRow {
        AccessRow(address, options, own, "cors 403 address-refused", "basic 403 address-refused")
    }

    /// A request that is redirected to another server.
    static func redirected(_ address: String) -> AccessRow {
        let (options, result) = (#"{"redirect":"manual"}"#, "opaqueredirect 0")
        return AccessRow(address, options, result, result, result)
    }

    var name: String { options == "{}" ? address : "\(address) \(options)" }

    /// Returns the beginning of the result in a page.
    func result(in page: Page) -> String {
        switch page {
        case .own: own
        case .ofAnotherSite: anotherSite
        case .ofAnotherName: anotherName
        }
    }
}

/// Tests each row of the tables in "Who may ask the server" of the threat model that a page can try, from pages in
/// Chromium.
///
/// A page cannot send a target in absolute form, a second `Host` field or a transfer coding.
@Suite(.serialized, .tags(.endToEnd), .enabled(if: Chromium.executable != nil, "there is no Chromium"))
struct AccessTableInBrowserTests {
    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    private static func options(_ method: String, type: String? = nil) -> String {
        guard let type else { return #"{"method":"\#(method)"}"# }
        return #"{"method":"\#(method)","headers":{"Content-Type":"\#(type)"},"body":"{}"}"#
    }

    private static func options(field name: String, _ value: String) -> String {
        #"{"headers":{"\#(name)":"\#(value)"}}"#
    }

    /// Sends the requests of all rows from a page to a server, and compares the results with those of the rows.
    private func verify(
        _ rows: [AccessRow],
        in kind: AccessRow.Page,
        _ page: Page,
        of server: String,
        _ stage: AccessStage
    ) async throws {
        let table = rows.map { [$0.name, server + $0.address, $0.options] }
        let json = String(decoding: try JSONEncoder().encode(table), as: UTF8.self)
        let results = try await stage.run(
            """
            for (const [name, address, options] of \(json)) results[name] = await tell(address, JSON.parse(options))
            """,
            in: page
        )
        #expect(results.count == rows.count)
        for row in rows {
            let (result, expected) = (results[row.name] ?? "missing", row.result(in: kind))
            #expect(result.hasPrefix(expected), "\(kind) \(server) \(row.name): \(result.prefix(200)), not \(expected)")
        }
    }

    /// Sends the requests of all rows from pages of all classes, and returns the page of a foreign name.
    private func verify(_ rows: [AccessRow], own: Page, _ stage: AccessStage) async throws -> Page {
        let name = "http://evil.example:\(stage.serverPort)"
        for address in stage.otherPages {
            let page = try await stage.open(address)
            for server in [stage.server, name] { try await verify(rows, in: .ofAnotherSite, page, of: server, stage) }
        }
        let source = "http://evil.example:\(stage.origin.port)/page.html"
        let rebound = try await stage.open(name + "/page.html", loadedFrom: source)
        let identity = try await rebound.text("location.origin + ' ' + document.title")
        #expect(identity == name + " another site")
        try await verify(rows, in: .ofAnotherName, rebound, of: name, stage)
        #expect(stage.requests(for: "/private.ts") == 0 && stage.requests(for: "/public.ts") > 0)
        #expect(!stage.requestsWithSecrets.contains { $0.hasSuffix(".ts") || $0.hasSuffix("/film.m3u8") })
        // The requests of the own page come last, since those have the secrets.
        try await verify(rows, in: .own, own, of: stage.server, stage)
        #expect(stage.requestsWithSecrets.contains { $0.hasSuffix("/private.ts") })
        return rebound
    }

    // MARK: All servers

    @Test(.timeLimit(.minutes(10))) func everyRowHoldsForEachClassOfPages() async throws {
        try await AccessStage.run(arguments: ["--verbose"]) { stage in
            let own = try await stage.open(stage.server + "/")
            let segments = try await issuedSegments(stage, own)
            let rows =
                try mediaRows(stage, segments) + methodRows(stage, segments) + privateRows(stage) + Self.changingRows
            let rebound = try await verify(rows, own: own, stage)
            try await verifyThatNothingChanged(stage, own: own, rebound: rebound)
            let segment = try #require(segments["redirected public"])
            try await verifyFrames(stage, own: own, segment: segment)
            try await verifyLinks(stage, segment: segment)
            try await verifyFolderOrigin(stage)
        }
    }

    /// Returns the addresses of segments that the server has issued to its own page, by delivery and host.
    private func issuedSegments(_ stage: AccessStage, _ own: Page) async throws -> [String: String] {
        let publicSource = Self.encoded(AccessStage.publicHost + "/public.m3u8")
        let privateSource = Self.encoded(stage.origin.address("/private.m3u8"))
        let segments = try await stage.run(
            """
            const deliveries = [['redirected', ''], ['proxied', '&segments=proxy'], ['throttled', '&conditions=WiFi']]
            for (const [host, address] of [['public', '\(publicSource)'], ['private', '\(privateSource)']])
              for (const [delivery, query] of deliveries) {
                const playlist = await read('/play.m3u8?url=' + address + query)
                const segment = playlist.split('\\n').find(line => line.startsWith('/segment/'))
                if (segment) results[`${delivery} ${host}`] = segment
              }
            """,
            in: own
        )
        #expect(segments.count == 6, "\(segments)")
        return segments
    }

    private func mediaRows(_ stage: AccessStage, _ segments: [String: String]) throws -> [AccessRow] {
        func segment(_ name: String) throws -> String { try #require(segments[name]) }
        func address(_ path: String, _ source: String, _ query: String = "") -> String {
            "/\(path)?url=\(Self.encoded(source))\(query)"
        }
        let publicList = address("play.m3u8", AccessStage.publicHost + "/public.m3u8")
        let privateList = address("play.m3u8", stage.origin.address("/private.m3u8"))
        let publicManifest = address("play.mpd", AccessStage.publicHost + "/film.m3u8", "&live=loop")
        let privateManifest = address("play.mpd", stage.origin.address("/film.m3u8"), "&live=loop")
        let head = Self.options("HEAD")
        let manual = #"{"redirect":"manual"}"#
        return [
            .media(publicList, "200 #EXTM3U"), .media(publicList, sent: head, "200 "),
            .privateHost(privateList, "basic 200 #EXTM3U"),
            .media(publicManifest, "200 <"), .privateHost(privateManifest, "basic 200 <"),
            .media(try segment("proxied public"), "200 segment"),
            .media(try segment("proxied public"), sent: head, "200 "),
            .privateHost(try segment("proxied private"), "basic 200 segment"),
            .media(try segment("throttled public"), "200 segment"),
            .privateHost(try segment("throttled private"), "basic 200 segment"),
            .redirected(try segment("redirected public")),
            .privateHost(try segment("redirected private"), sent: manual, "opaqueredirect 0"),
            .media("/segment/x?url=\(Self.encoded(stage.origin.address("/private.ts")))", "403 invalid-signature"),
            .media(try segment("redirected public") + "&segments=proxy", "403 invalid-signature"),
            .media(try segment("proxied public") + "&expires=4102444800", "403 invalid-signature"),
            // A page needs a preflight for this range, but for none that begins at a byte.
            .media(try segment("proxied public"), sent: Self.options(field: "Range", "bytes=-3"), "206 ent"),
        ]
    }

    private func methodRows(_ stage: AccessStage, _ segments: [String: String]) throws -> [AccessRow] {
        let segment = try #require(segments["proxied public"])
        let media = ["/play.m3u8?url=x", "/play.mpd?url=x", segment]
        let others = ["/", "/console/main.js", "/health", "/metrics", "/api/library", "/offline/x/multivariant.m3u8"]
        let unusual = [
            "//api/library", "/api%2flibrary", "/api/library/", "/offline//x/multivariant.m3u8", "//play.m3u8?url=x",
            "/play.mpd/?url=x", "/segment%2Fx?url=x", "//health",
        ]
        let refused = "405 method-not-allowed"
        var rows = media.map { AccessRow.unreadable($0, sent: Self.options("OPTIONS"), "204 ") }
        for address in media {
            rows.append(.unreadable(address, sent: Self.options("PUT"), refused))
            rows.append(.unreadable(address, sent: Self.options("POST", type: "text/plain"), refused))
        }
        rows += others.map { AccessRow.unreadable($0, sent: Self.options("OPTIONS"), refused) }
        rows += unusual.map { AccessRow.unreadable($0, "404 not-found") }
        rows.append(.unreadable("/health", #"200 {"status":"ok"}"#))
        // A preflight allows no other field than Range.
        rows.append(.unreadable(segment, sent: Self.options(field: "X-Test", "1"), "200 segment"))
        return rows
    }

    private func privateRows(_ stage: AccessStage) -> [AccessRow] {
        let source = Self.encoded(stage.origin.address("/private.m3u8"))
        let playback = Self.encoded("/play.m3u8?url=\(source)")
        let missing = ["/offline/x/multivariant.m3u8", "/api/library/x/artwork"]
        let found = [
            "/", "/console/main.js", "/metrics", "/api/library", "/api/streams", "/api/streams/private/poster",
            "/api/edits", "/api/conditions", "/api/faults", "/api/storage", "/api/signing",
            "/api/inspect?url=\(source)", "/api/playback-address?address=\(playback)",
            "/api/playback/playlist?address=\(playback)",
        ]
        var rows = missing.map { AccessRow.owned($0, "basic 404 ") }
        for address in found {
            rows.append(.owned(address, "basic 200 "))
            rows.append(.owned(address, sent: #"{"credentials":"include"}"#, "basic 200 "))
        }
        return rows
    }

    /// Requests that change something, in a form that even for the own page has no effect.
    private static var changingRows: [AccessRow] {
        let json = "application/json"
        return [
            .owned("/api/downloads", sent: options("POST", type: json), "basic 400 invalid-body"),
            .owned("/api/downloads", sent: options("POST", type: "text/plain"), "basic 415 not-json"),
            .owned("/api/conditions", sent: options("PUT", type: json), "basic 400 invalid-body"),
            .owned("/api/conditions", sent: options("PUT", type: "text/plain"), "basic 415 not-json"),
            .owned("/api/faults", sent: options("PUT", type: json), "basic 400 invalid-body"),
            .owned("/api/library/x/policy", sent: options("PUT", type: json), "basic 404 "),
            .owned("/api/library/x", sent: options("DELETE"), "basic "),
            .owned("/api/downloads/x", sent: options("DELETE"), "basic "),
            .owned("/api/downloads/x/pause", sent: options("POST"), "basic "),
            .owned("/api/downloads/x/resume", sent: options("POST"), "basic "),
            .owned("/api/storage/evictions", sent: options("POST"), "basic 200 "),
        ]
    }

    /// Sends complete orders from a page of a foreign name, and reads in the own page that none had an effect.
    private func verifyThatNothingChanged(_ stage: AccessStage, own: Page, rebound: Page) async throws {
        let orders = try await stage.run(
            """
            const headers = {'Content-Type': 'application/json'}
            const send = (path, method, body) => tell(path, {method, headers, body: JSON.stringify(body)})
            results.download = await send('/api/downloads', 'POST', {url: source})
            results.conditions = await send('/api/conditions', 'PUT', {conditions: '100% Loss'})
            results.faults = await send('/api/faults', 'PUT', {faults: ['path=*&status=503']})
            results.events = await new Promise(resolve => {
              const events = new EventSource('/api/events')
              events.onopen = () => { events.close(); resolve('open') }
              events.onerror = () => { events.close(); resolve('basic 403 foreign-host') }
            })
            """,
            in: rebound
        )
        #expect(orders.count == 4 && orders.values.allSatisfy { $0 == "basic 403 foreign-host" }, "\(orders)")
        let state = try await stage.run(
            """
            for (const name of ['library', 'conditions', 'faults']) results[name] = await read('/api/' + name)
            """,
            in: own
        )
        #expect(state["library"] == #"basic 200 {"assets":[]}"#)
        #expect(state["conditions"]?.contains(#""shared":"Off""#) == true)
        #expect(state["faults"]?.contains(#""faults":[]"#) == true, "\(state)")
    }

    /// Neither the console nor a segment that is redirected is shown in a frame, of whichever page.
    private func verifyFrames(_ stage: AccessStage, own: Page, segment: String) async throws {
        func answers(_ path: String, _ status: String = "status=") -> Int {
            stage.program.standardError.split(separator: "\n").count { $0.contains(path) && $0.contains(status) }
        }
        let name = "/segment/public.ts"
        let (scripts, redirects) = (answers("/console/main.js"), answers(name, "status=302"))
        #expect(scripts > 0 && redirects > 0, "\(stage.program.standardError.suffix(1_000))")
        let refused = answers(name, "status=403")
        var pages = [own]
        for address in stage.otherPages { pages.append(try await stage.open(address)) }
        for page in pages {
            let results = try await stage.run(
                """
                results.segment = await load('iframe', {src: server + '\(segment)'})
                results.console = await load('iframe', {src: server + '/', name: 'console'})
                results.document = String(document.querySelector('iframe[name=console]').contentDocument)
                """,
                in: page
            )
            // The browser shows an error page, whose document is not even accessible to a page of the server.
            #expect(results == ["segment": "loaded", "console": "loaded", "document": "null"])
        }
        try await eventually("the frames are answered") { answers(name, "status=403") == refused + pages.count }
        #expect(answers(name, "status=302") == redirects)
        #expect(answers("/console/main.js") == scripts)
    }

    /// Links lead to the console, and to segments only with the refusal of the server.
    private func verifyLinks(_ stage: AccessStage, segment: String) async throws {
        for page in stage.otherPages {
            let console = try await stage.follow(stage.server + "/", from: page)
            #expect(console.hasPrefix("Millstream"), "\(page): \(console.prefix(200))")
        }
        let name = "http://evil.example:\(stage.serverPort)"
        // Browsers send no Sec-Fetch-Dest to the foreign name, since it has neither a loopback address nor HTTPS.
        for (server, pages) in [(stage.server, stage.otherPages + [stage.server + "/"]), (name, stage.otherPages)] {
            for page in pages {
                let text = try await stage.follow(server + segment, from: page)
                #expect(text.contains("not-a-page"), "\(page) \(server): \(text.prefix(200))")
            }
        }
        let refused = try await stage.follow(name + "/", from: stage.otherPages[0])
        #expect(refused.contains("foreign-host"), "\(refused.prefix(200))")
    }

    /// Tests `millstream origin`, which has no secrets, from pages of other sites.
    private func verifyFolderOrigin(_ stage: AccessStage) async throws {
        let media = stage.folder.appendingPathComponent("media")
        try FileManager.default.createDirectory(at: media, withIntermediateDirectories: true)
        try Data("0123456789".utf8).write(to: media.appendingPathComponent("a.m3u8"))
        let program = try RunningProgram(["origin", media.path, "--port", "0"])
        let port = try await program.match(":([0-9]+)/")
        let refused = "405 method-not-allowed"
        let rows: [AccessRow] = [
            .media("/a.m3u8", "200 0123456789"), .media("/a.m3u8", sent: Self.options("HEAD"), "200 "),
            .media("/a.m3u8", sent: Self.options(field: "Range", "bytes=-2"), "206 89"),
            .media("/missing.ts", "404 not-found"), .media("//a.m3u8", "404 not-found"),
            .media("/a.m3u8", sent: Self.options("POST", type: "text/plain"), refused),
            .unreadable("/a.m3u8", sent: Self.options("PUT"), refused),
            .unreadable("/a.m3u8", sent: Self.options("OPTIONS"), "204 "),
            .unreadable("/a.m3u8", sent: Self.options(field: "X-Test", "1"), "200 0123456789"),
        ]
        for address in stage.otherPages {
            let page = try await stage.open(address)
            for host in ["127.0.0.1", "evil.example"] {
                try await verify(rows, in: .ofAnotherSite, page, of: "http://\(host):\(port)", stage)
            }
        }
        let name = "http://evil.example:\(port)"
        let source = "http://evil.example:\(stage.origin.port)/page.html"
        let rebound = try await stage.open(name + "/page.html", loadedFrom: source)
        try await verify(rows, in: .ofAnotherName, rebound, of: name, stage)
        program.send(SIGTERM)
        _ = try await program.finish()
    }

    // MARK: Servers that admit only signed addresses

    @Test(.timeLimit(.minutes(10))) func everyRowOfSignedServersHoldsForEachClassOfPages() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try writePrivately([UInt8](repeating: 7, count: 32), to: file)
        let secret = try ServerSecret(file: file)
        try await AccessStage.run(arguments: ["--secret", file.path]) { stage in
            let own = try await stage.open(stage.server + "/")
            _ = try await verify(try await signedRows(stage, own, secret), own: own, stage)
            try await verifyCredentials(stage)
        }
    }

    private func writePrivately(_ bytes: [UInt8], to file: URL) throws {
        try Data(bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    }

    private func signedRows(_ stage: AccessStage, _ own: Page, _ secret: ServerSecret) async throws -> [AccessRow] {
        let now = Int64(Date().timeIntervalSince1970)
        let end = now + 3_600
        func plain(_ source: String) -> String { "/play.m3u8?segments=proxy&url=\(Self.encoded(source))" }
        func signed(_ source: String, expires: Int64) throws -> String {
            try secret.signedAddress(ResourceAddress(plain(source)), expires: UnixSeconds(expires)).text
        }
        let publicSource = AccessStage.publicHost + "/public.m3u8"
        let publicList = try signed(publicSource, expires: end)
        let privateList = try signed(stage.origin.address("/private.m3u8"), expires: end)
        let segments = try await stage.run(
            """
            for (const [name, address] of [['public', '\(publicList)'], ['private', '\(privateList)']])
              results[name] = (await read(address)).split('\\n').find(line => line.startsWith('/segment/')) ?? 'none'
            """,
            in: own
        )
        let (segment, privateSegment) = (try #require(segments["public"]), try #require(segments["private"]))
        let extended = segment.replacingOccurrences(of: "expires=\(end)", with: "expires=\(end + 1)")
        #expect(extended != segment, "\(segments)")
        let manifest = "/play.mpd?url=\(Self.encoded(AccessStage.publicHost + "/film.m3u8"))&live=loop"
        let forwarded = ["X-Forwarded-For", "X-Real-IP", "Forwarded"].map { name in
            let options = Self.options(field: name, name == "Forwarded" ? "for=192.0.2.1" : "192.0.2.1")
            return AccessRow.owned("/api/library", sent: options, "basic 403 not-this-machine")
        }
        let rows: [AccessRow] = [
            .media(plain(publicSource), "403 missing-signature"), .media(manifest, "403 missing-signature"),
            .media(publicList, "200 #EXTM3U"), .privateHost(privateList, "basic 200 #EXTM3U"),
            .media(publicList + "&duration=4", "403 invalid-signature"),
            .media(try signed(publicSource, expires: now - 1), "403 expired-address"),
            .media(segment, "200 segment"), .privateHost(privateSegment, "basic 200 segment"),
            .media(extended, "403 invalid-signature"),
            .owned("/", "basic 200 "), .owned("/api/library", "basic 200 "), .owned("/metrics", "basic 200 "),
            .owned("/offline/x/multivariant.m3u8", "basic 404 "), .unreadable("/health", "200 "),
        ]
        return forwarded + rows
    }

    /// Tests a server whose console requires credentials.
    private func verifyCredentials(_ stage: AccessStage) async throws {
        let file = stage.folder.appendingPathComponent("credentials")
        try writePrivately(Array("owner:correct-horse-1".utf8), to: file)
        let program = try RunningProgram([
            "serve", "--port", "0", "--library", stage.folder.appendingPathComponent("library-2").path,
            "--console-credentials", file.path,
        ])
        let server = try await program.match("(http://[0-9.:]+)/")
        // The browser remembers the credentials of the URL for the server.
        let signedIn = server.replacingOccurrences(of: "http://", with: "http://owner:correct-horse-1@")
        let own = try await stage.open(signedIn + "/")
        let address = server + "/api/library"
        let read = try await stage.run(
            """
            results.signedIn = await tell('\(address)')
            results.signedOut = await tell('\(address)', {credentials: 'omit'})
            """,
            in: own
        )
        #expect(read == ["signedIn": #"basic 200 {"assets":[]}"#, "signedOut": "basic 401 unauthorized"])
        for page in stage.otherPages {
            let results = try await stage.run(
                """
                results.signedIn = await tell('\(address)', {credentials: 'include'})
                results.sent = await tell('\(address)', {headers: {Authorization: 'Basic eDp5'}})
                """,
                at: page
            )
            #expect(results == ["signedIn": "blocked", "sent": "blocked"], "\(page)")
        }
        let wrong = try await stage.run(
            """
            const guess = {credentials: 'omit', headers: {Authorization: 'Basic eDp5'}}
            for (let number = 0; number < 10; number++) results[number] = await tell('\(address)', guess)
            results.last = await tell('\(address)')
            """,
            in: own
        )
        #expect(wrong.count == 11 && wrong["last"] == "basic 429 too-many-attempts", "\(wrong)")
        #expect((0..<10).allSatisfy { wrong["\($0)"] == "basic 401 unauthorized" }, "\(wrong)")
        program.send(SIGTERM)
        #expect(try await program.finish() == 0)
    }
}
