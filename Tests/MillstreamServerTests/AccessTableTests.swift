import Foundation
import MediaTransport
import MillstreamTesting
import Synchronization
import Testing

@testable import MillstreamServer

/// Tests the rows of the table "Who may ask the server" of the threat model against a running server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct AccessTableTests {
    /// Header fields by which a request shows that a page of another site sent it.
    static let foreignFields: [[String]] = [
        ["Origin: https://evil.example"], ["Origin: null"], ["Origin: http://127.0.0.1:1"],
        ["Sec-Fetch-Site: cross-site"],
        ["Sec-Fetch-Site: same-site"], ["Referer: https://evil.example/page"],
        ["User-Agent: Mozilla/5.0 (X11; Linux x86_64)"],
        ["Origin: http://%", "Sec-Fetch-Site: cross-site"], ["Referer: http://%/", "Sec-Fetch-Site: cross-site"],
    ]
    /// Header fields of requests from players and from the pages of the server.
    static let ownFields: [[String]] = [
        [], ["User-Agent: AppleCoreMedia/1.0.0.21A329"], ["User-Agent: VLC/3.0.20 LibVLC/3.0.20"],
        ["Sec-Fetch-Site: none"],
        ["Origin: http://%"], ["Sec-Fetch-Site: same-origin", "User-Agent: Mozilla/5.0"],
        ["Referer: http://%/", "User-Agent: Mozilla/5.0"],
    ]
    static let privatePaths = [
        "/api/library", "/api/library/x/artwork", "/api/edits", "/api/streams", "/api/streams/private/poster",
        "/api/conditions", "/api/events", "/api/faults", "/api/storage", "/api/signing",
        "/api/playback-address?address=/play.m3u8", "/api/inspect?url=x",
        "/api/playback/playlist?address=/play.m3u8", "/api/playback/segment?address=/play.m3u8",
        "/api/playback/timestamp?address=/play.m3u8", "/api/playback/cues?address=/play.m3u8",
        "/offline/x/multivariant.m3u8", "/metrics",
    ]

    /// The methods and paths of the routes of a server.
    private final class Routes: Sendable {
        private let known = Mutex<[(method: String, path: String)]>([])

        /// The routes, with a name for each parameter of a path.
        var all: [(method: String, path: String)] {
            known.withLock { $0 }.map { route in
                let path = route.path.replacing(/\{[a-z]+\}/, with: "x").replacing("**", with: "multivariant.m3u8")
                return (method: route.method, path: path)
            }
        }

        func set(_ routes: [(method: String, path: String)]) { known.withLock { $0 = routes } }
    }

    /// Every route that is not one of the known public ones is private.
    @Test func everyRouteHasTheGuardOfItsGroup() async throws {
        let routes = Routes()
        try await ServerStage.run(configure: { options, _ in options.routeObserver = { routes.set($0) } }) {
            (stage: ServerStage) async throws in
            let open = ["/play.m3u8", "/play.mpd", "/segment/x", "/", "/console/x", "/health"]
            let known = routes.all.filter { $0.method != "HEAD" }
            let owned = known.filter { !open.contains($0.path) }
            #expect(Set(known.map { $0.path }).isSuperset(of: open) && owned.count >= 20, "\(known)")
            let openMethods = known.filter { open.contains($0.path) }.map { $0.method }
            #expect(Set(openMethods) == ["GET", "OPTIONS"])
            for path in Self.privatePaths {
                let path = path.prefix { $0 != "?" }.replacing("/private/", with: "/x/")
                #expect(owned.contains { $0.method == "GET" && $0.path == path }, "\(path)")
            }
            for (method, path) in owned {
                for (fields, host, code) in [
                    (["Origin: https://evil.example"], nil, "foreign-origin"),
                    (["Sec-Fetch-Site: same-origin"], "evil.example", "foreign-host"),
                ] as [([String], String?, String)] {
                    let response = try await stage.ask(path, method: method, fields: fields, host: host)
                    #expect(response.status == 403 && response.errorCode == code, "\(method) \(path)")
                    #expect(response.field("Access-Control-Allow-Origin") == nil, "\(method) \(path)")
                }
                guard method != "GET" else { continue }
                let text = ["Content-Type: text/plain", "Content-Length: 2"]
                let refused = try await stage.ask(path, method: method, fields: text, body: "{}")
                #expect(refused.status == 415 && refused.errorCode == "not-json", "\(method) \(path)")
            }
            #expect(stage.requests.isEmpty)
        }
    }

    @Test func privateRoutesAcceptPlayersAndOwnPages() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for fields in Self.ownFields {
                let response = try await stage.ask("/api/library", fields: fields)
                #expect(response.status == 200 && response.body == #"{"assets":[]}"#, "\(fields)")
                #expect(response.field("Access-Control-Allow-Origin") == nil)
                #expect(response.field("Cross-Origin-Resource-Policy") == "same-origin")
                #expect(response.field("Vary")?.contains("Sec-Fetch-Site") == true)
                #expect(try await stage.ask("/metrics", fields: fields).status == 200)
                #expect(try await stage.ask("/offline/x/multivariant.m3u8", fields: fields).status == 404)
            }
            #expect(try await stage.ask("/api/library", host: "media.example").status == 200)
        }
    }

    @Test func privateRoutesRejectPagesOfOtherSites() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for path in Self.privatePaths {
                for fields in Self.foreignFields {
                    for method in ["GET", "HEAD"] {
                        let response = try await stage.ask(path, method: method, fields: fields)
                        #expect(response.status == 403, "\(method) \(path) \(fields): \(response.head)")
                        #expect(response.field("Access-Control-Allow-Origin") == nil)
                        if method == "GET" { #expect(response.errorCode == "foreign-origin") }
                    }
                }
            }
            #expect(stage.requests.isEmpty)
        }
    }

    @Test func privateRoutesAndTheConsoleRejectOtherHostNames() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for path in Self.privatePaths + ["/", "/console/main.js"] {
                for host in ["evil.example", "evil.example:\(stage.port)", "127.0.0.1.evil.example", ""] {
                    let response = try await stage.ask(path, fields: ["Sec-Fetch-Site: same-origin"], host: host)
                    #expect(
                        response.status == 403 && response.errorCode == "foreign-host",
                        "\(path) \(host): \(response.head)"
                    )
                }
            }
        }
    }

    /// Paths that the router recognizes are protected, and all other spellings are not found.
    @Test func otherSpellingsOfAPathAreNotFound() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let spellings = [
                "//api/library", "/api//library", "/api/library/", "///api///library", "/./api/library",
                "/x/../api/library",
                "/api/./library", "/%2e/api/library", "/x/%2e%2e/api/library", "/api%2flibrary", "/api%2Flibrary",
                "/%61pi/library", "/api/%6cibrary", "/API/library", "/Api/Library", "/api/LIBRARY", "/api\\library",
                "/api/library%00", "/api/library;x", "//offline/x/multivariant.m3u8", "/offline//x/multivariant.m3u8",
                "/offline/x//multivariant.m3u8", "/offline/x/../x/multivariant.m3u8", "//metrics", "/metrics/",
                "//api/events",
                "/api//events", "/api/events/",
            ]
            for target in spellings {
                for fields in [[], ["Origin: https://evil.example"]] {
                    for method in ["GET", "HEAD", "OPTIONS", "POST"] {
                        let response = try await stage.ask(target, method: method, fields: fields)
                        #expect(response.status == 404, "\(method) \(target) \(fields): \(response.head)")
                        #expect(response.field("Access-Control-Allow-Origin") == nil, "\(method) \(target)")
                        #expect(!response.body.contains("assets"))
                    }
                }
            }
            for target in ["*", "/api/library#x", "api/library"] {
                let response = try await stage.ask(target, fields: ["Origin: https://evil.example"])
                #expect(response.status == 400, "\(target): \(response.head)")
            }
            // For a target in absolute form, the Host field would not count (RFC 9112 §3.2.2).
            for target in [
                "http://127.0.0.1/api/library", "http://evil.example/api/library", "https://127.0.0.1/health",
                "HTTP://evil.example/play.m3u8?url=x", "http://127.0.0.1",
            ] {
                for fields in [[], ["Origin: https://evil.example"]] {
                    let response = try await stage.ask(target, fields: fields)
                    #expect(response.status == 400, "\(target): \(response.head)")
                    #expect(response.errorCode == "malformed-target", "\(target): \(response.body)")
                }
            }
            let doubled = try await stage.ask("/api/library", fields: ["Host: evil.example"])
            #expect(doubled.status == 400 && doubled.errorCode == "malformed-request")
        }
    }

    @Test func changesAreAllowedOnlyForPlayersAndOwnPages() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let json = #"{"conditions":"3G"}"#
            func change(_ fields: [String], host: String? = nil) async throws -> RawResponse {
                try await stage.ask(
                    "/api/conditions",
                    method: "PUT",
                    fields: fields + ["Content-Length: \(json.utf8.count)"],
                    host: host,
                    body: json
                )
            }
            for fields in Self.foreignFields {
                #expect(try await change(fields + ["Content-Type: application/json"]).status == 403, "\(fields)")
                for (method, path) in [
                    ("POST", "/api/downloads"), ("DELETE", "/api/library/x"), ("DELETE", "/api/downloads/x"),
                    ("POST", "/api/downloads/x/pause"), ("POST", "/api/downloads/x/resume"),
                    ("POST", "/api/storage/evictions"), ("PUT", "/api/library/x/policy"), ("PUT", "/api/faults"),
                ] {
                    #expect(
                        try await stage.ask(path, method: method, fields: fields).status == 403,
                        "\(method) \(fields)"
                    )
                }
            }
            #expect(try await change(["Content-Type: application/json"], host: "evil.example").status == 403)
            #expect(try await stage.ask("/api/conditions").body.contains(#""shared":"3G""#) == false)
            for fields in Self.ownFields {
                #expect(try await change(fields + ["Content-Type: application/json"]).status == 200, "\(fields)")
            }
            #expect(try await stage.ask("/api/conditions").body.contains(#""shared":"3G""#))
        }
    }

    /// A form of another site can send these types without a preflight; a chunked body has no length.
    @Test(arguments: [
        "Content-Type: text/plain", "Content-Type: application/x-www-form-urlencoded",
        "Content-Type: multipart/form-data; boundary=x",
        "Content-Type: text/plain; application/json", "Content-Type: application/jsonx", "X-None: 1",
    ])
    func bodiesMustBeJSON(type: String) async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let json = #"{"conditions":"3G"}"#
            let chunked = "\(String(json.utf8.count, radix: 16))\r\n\(json)\r\n0\r\n\r\n"
            for (field, body) in [
                ("Content-Length: \(json.utf8.count)", json), ("Transfer-Encoding: chunked", chunked),
            ] {
                let response = try await stage.ask("/api/conditions", method: "PUT", fields: [type, field], body: body)
                #expect(response.status == 415 && response.errorCode == "not-json", "\(field): \(response.head)")
            }
            #expect(try await stage.ask("/api/conditions").body.contains(#""shared":"3G""#) == false)
            let accepted = try await stage.ask(
                "/api/conditions",
                method: "PUT",
                fields: ["Content-Type: application/json; charset=utf-8", "Transfer-Encoding: chunked"],
                body: chunked
            )
            #expect(accepted.status == 200)
        }
    }

    @Test func consolePagesMayBeLinkedTo() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for fields in Self.ownFields + Self.foreignFields {
                let page = try await stage.ask("/", fields: fields)
                #expect(page.status == 200 && page.field("Access-Control-Allow-Origin") == nil, "\(fields)")
                #expect(page.field("Content-Security-Policy")?.contains("frame-ancestors 'none'") == true)
                #expect(page.field("Cross-Origin-Resource-Policy") == "same-origin")
                #expect(page.field("Referrer-Policy") == "same-origin")
            }
            #expect(try await stage.ask("/", method: "POST", fields: ["Origin: https://evil.example"]).status == 405)
        }
    }

    /// A path is refused with the methods that it has, to every client, before its guards and without an effect.
    @Test func methodsThatAPathDoesNotHaveAreRefused() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for (path, method, allowed) in [
                ("/play.m3u8?url=x", "POST", "GET, HEAD, OPTIONS"), ("/play.m3u8", "DELETE", "GET, HEAD, OPTIONS"),
                ("/segment/a.ts", "PUT", "GET, HEAD, OPTIONS"), ("/offline/x/multivariant.m3u8", "POST", "GET, HEAD"),
                ("/offline/x/multivariant.m3u8", "OPTIONS", "GET, HEAD"), ("/", "PUT", "GET, HEAD"),
                ("/console/main.js", "POST", "GET, HEAD"), ("/health", "DELETE", "GET, HEAD"),
                ("/metrics", "POST", "GET, HEAD"), ("/api/library", "POST", "GET, HEAD"),
                ("/api/downloads", "GET", "POST"), ("/api/library/x", "PATCH", "DELETE"),
                ("/api/library/x/artwork", "PUT", "GET, HEAD"),
                ("/api/conditions", "POST", "GET, HEAD, PUT"), ("/api/storage/evictions", "GET", "POST"),
            ] {
                for fields in [[], ["Origin: https://evil.example"]] {
                    let response = try await stage.ask(path, method: method, fields: fields)
                    #expect(response.status == 405 && response.errorCode == "method-not-allowed", "\(method) \(path)")
                    #expect(response.field("Allow") == allowed, "\(method) \(path)")
                }
            }
            let head = try await stage.ask("/api/downloads", method: "HEAD")
            #expect(head.status == 405 && head.field("Allow") == "POST" && head.body.isEmpty)
            #expect(try await stage.ask("/other", method: "POST").status == 404)
            #expect(stage.requests.isEmpty)
        }
    }

    @Test func mediaRequestsUseSecretsForPlayersAndOwnPages() async throws {
        for fields in Self.ownFields {
            try await ServerStage.run { (stage: ServerStage) async throws in
                for source in [stage.privateSource, stage.publicSource] {
                    let segment = try await stage.segment(of: source, query: "&segments=proxy", fields: fields)
                    let response = try await stage.ask(segment, fields: fields)
                    #expect(response.status == 200 && response.body == "segment", "\(fields)")
                    #expect(response.field("Access-Control-Allow-Origin") == "*")
                    #expect(response.field("Vary")?.contains("Sec-Fetch-Site") == true)
                    #expect(response.field("Cache-Control")?.contains("public") != true)
                }
                for path in ["/private.m3u8", "/private.ts", "/public.m3u8", "/public.ts"] {
                    #expect(stage.secrets(at: path) == [true], "\(path) \(fields)")
                }
                let redirect = try await stage.ask(try await stage.segment(of: stage.privateSource), fields: fields)
                #expect(redirect.status == 302 && redirect.field("Location") == stage.origin.address("/private.ts"))
            }
        }
    }

    @Test func mediaRequestsUseNoSecretsAndNoPrivateHostsForOtherSites() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            // Addresses that were issued to players are valid for other clients, without the privileges of the player.
            let privateSegment = try await stage.segment(of: stage.privateSource, query: "&segments=proxy")
            let privateRedirect = try await stage.segment(of: stage.privateSource)
            let publicSegment = try await stage.segment(of: stage.publicSource, query: "&segments=proxy")
            let publicRedirect = try await stage.segment(of: stage.publicSource)
            let before = stage.requests.count
            for fields in Self.foreignFields + [["Host"]] {
                let host = fields == ["Host"] ? "evil.example:\(stage.port)" : nil
                let fields = host == nil ? fields : ["Sec-Fetch-Site: same-origin"]
                for target in [
                    "/play.m3u8?url=\(stage.privateSource)", "/play.mpd?url=\(stage.privateSource)&live=loop",
                    privateSegment, privateRedirect,
                ] {
                    let response = try await stage.ask(target, fields: fields, host: host)
                    #expect(
                        response.status == 403 && response.errorCode == "address-refused",
                        "\(target) \(fields): \(response.head)"
                    )
                    // The option --allow-host would not help.
                    let advice = host == nil ? "pages of other sites" : "--server-name NAME"
                    #expect(response.body.contains(advice), "\(response.body)")
                    #expect(response.field("Location") == nil)
                    #expect(response.field("Access-Control-Allow-Origin") == "*")
                }
                let playlist = try await stage.ask("/play.m3u8?url=\(stage.publicSource)", fields: fields, host: host)
                #expect(playlist.status == 200 && playlist.field("Access-Control-Allow-Origin") == "*")
                let segment = try await stage.ask(publicSegment, fields: fields, host: host)
                #expect(segment.status == 200 && segment.body == "segment", "\(fields)")
                let redirect = try await stage.ask(publicRedirect, fields: fields, host: host)
                #expect(redirect.status == 302 && redirect.field("Location") == "http://8.8.8.8/public.ts")
            }
            let later = stage.requests.dropFirst(before)
            #expect(later.count == 2 * (Self.foreignFields.count + 1))
            for request in later {
                #expect(request.path.hasPrefix("/public"))
                #expect(request.header("Authorization") == nil && request.header("Cookie") == nil)
            }
        }
    }

    /// Manifests are loaded as playlists are: with the secrets for players only.
    @Test func manifestsUseNoSecretsForOtherSites() async throws {
        try await ChannelManifestRouteTests().onStage { (stage: ServerStage) async throws in
            let target = "/play.mpd?url=\(ServerStage.publicHost)/main.m3u8&live=loop"
            for (fields, host) in [
                (["Origin: https://evil.example"], nil), (["Sec-Fetch-Site: same-origin"], "evil.example"),
            ] as [([String], String?)] {
                let manifest = try await stage.ask(target, fields: fields, host: host)
                #expect(manifest.status == 200 && manifest.field("Access-Control-Allow-Origin") == "*", "\(fields)")
            }
            for path in ["/main.m3u8", "/v.m3u8", "/v.mp4", "/v0.m4s"] {
                let secrets = stage.secrets(at: path)
                #expect(!secrets.isEmpty && !secrets.contains(true), "\(path): \(secrets)")
            }
            #expect(try await stage.ask(target).status == 200)
            #expect(stage.secrets(at: "/main.m3u8").last == true)
        }
    }

    /// The playlist of another site may name a private host, but the address that the server signs for it is refused.
    @Test func signatureForAnotherSiteDoesNotAllowPrivateHosts() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let foreign = ["Origin: https://evil.example"]
            let mixed = ServerStage.publicHost + "/mixed.m3u8"
            for query in ["", "&segments=proxy", "&conditions=WiFi"] {
                let segment = try await stage.segment(of: mixed, query: query, fields: foreign)
                #expect(try await stage.ask(segment, fields: foreign).status == 403)
            }
            #expect(stage.secrets(at: "/private.ts").isEmpty)
        }
    }

    @Test func segmentsRequireSignedAddresses() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for target in [
                "/segment/x?url=http://8.8.8.8/public.ts", "/segment/x?url=http://8.8.8.8/public.ts&segments=proxy",
                "/segment/x?url=https://evil.example/",
                "/segment/x?url=http://8.8.8.8/public.ts&conditions=3G&link=abc",
                "/segment/x?url=\(stage.origin.address("/private.ts"))&segments=proxy&signature="
                    + String(repeating: "A", count: 43),
            ] {
                let response = try await stage.ask(target)
                #expect(response.status == 403 && response.errorCode == "invalid-signature", "\(target)")
                #expect(response.field("Location") == nil)
            }
            let segment = try await stage.segment(of: stage.publicSource)
            for changed in [
                segment + "&segments=proxy", segment.replacing("public.ts&", with: "other.ts&"),
                segment.replacing("/segment/public.ts", with: "/segment/setup.exe"),
                segment.replacing("http://", with: "https://"),
            ] {
                #expect(changed != segment)
                #expect(try await stage.ask(changed).status == 403, "\(changed)")
            }
            #expect(try await stage.ask(segment + "&CMCD=br%3D3200").status == 302)
            // An unsigned request creates no link.
            #expect(try await stage.ask("/api/conditions").body.contains(#""links":[]"#))
        }
    }

    /// A link that a user follows must not redirect from this server to another site.
    @Test func navigationsAreNotRedirected() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let segment = try await stage.segment(of: stage.publicSource)
            for destination in ["document", "iframe", "frame", "object", "embed"] {
                for site in ["none", "cross-site", "same-origin"] {
                    let fields = [
                        "Sec-Fetch-Dest: \(destination)", "Sec-Fetch-Site: \(site)", "Sec-Fetch-Mode: navigate",
                    ]
                    let response = try await stage.ask(segment, fields: fields)
                    #expect(response.status == 403 && response.errorCode == "not-a-page", "\(fields)")
                    #expect(response.field("Location") == nil, "\(fields)")
                }
            }
            // Over plain HTTP, browsers send no Sec-Fetch-Dest to other machines.
            let page = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
            for (fields, host) in [
                ([page], nil), ([page.uppercased()], nil), ([page], "evil.example"),
                ([page, "Referer: https://evil.example/"], nil),
            ] as [([String], String?)] {
                let response = try await stage.ask(segment, fields: fields, host: host)
                #expect(response.status == 403 && response.errorCode == "not-a-page", "\(fields)")
            }
            for destination in ["video", "audio", "empty", "track"] {
                for fields in [["Sec-Fetch-Dest: \(destination)"], ["Sec-Fetch-Dest: \(destination)", page]] {
                    #expect(try await stage.ask(segment, fields: fields).status == 302, "\(fields)")
                }
            }
            for accepted in ["*/*", "text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "video/*;q=0.9,*/*;q=0.5"] {
                #expect(try await stage.ask(segment, fields: ["Accept: \(accepted)"]).status == 302, "\(accepted)")
            }
        }
    }

    @Test func preflightsAllowOnlyReadingMedia() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let fields = ["Origin: https://evil.example", "Access-Control-Request-Method: PUT"]
            for path in ["/play.m3u8?url=x", "/play.mpd?url=x", "/segment/x?url=y"] {
                let response = try await stage.ask(path, method: "OPTIONS", fields: fields)
                #expect(response.status == 204 && response.field("Access-Control-Allow-Methods") == "GET, HEAD")
                #expect(response.field("Access-Control-Allow-Headers") == "Range")
                #expect(response.field("Access-Control-Allow-Private-Network") == nil)
            }
            for path in Self.privatePaths + ["/", "/console/main.js", "/health"] {
                let response = try await stage.ask(path, method: "OPTIONS", fields: fields)
                #expect(response.status == 405, "\(path)")
                #expect(response.field("Access-Control-Allow-Origin") == nil, "\(path)")
                #expect(response.field("Access-Control-Allow-Methods") == nil, "\(path)")
            }
        }
    }

    @Test func healthIsAvailableToEveryClient() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            for host in [nil, "evil.example", "probe.internal"] {
                let response = try await stage.ask("/health", fields: ["Origin: https://evil.example"], host: host)
                #expect(response.status == 200 && response.body == #"{"status":"ok"}"#)
                #expect(response.field("Access-Control-Allow-Origin") == nil)
            }
        }
    }

    /// Issued addresses remain valid after a restart of the server.
    @Test func signedAddressesSurviveARestart() async throws {
        let library = FileManager.default.temporaryDirectory.appendingPathComponent("library-\(UUID())")
        defer { try? FileManager.default.removeItem(at: library) }
        var segment = ""
        try await ServerStage.run(library: library) { stage in segment = try await stage.segment(of: stage.publicSource)
        }
        try await ServerStage.run(library: library) { (stage: ServerStage) async throws in
            #expect(try await stage.ask(segment).status == 302)
        }
        let attributes = try FileManager.default.attributesOfItem(
            atPath: library.appendingPathComponent("server-secret").path
        )
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        try await ServerStage.run(secret: ServerSecret(bytes: [UInt8](repeating: 1, count: 16))) {
            (stage: ServerStage) async throws in
            #expect(try await stage.ask(segment).status == 403)
            segment = try await stage.segment(of: stage.publicSource)
        }
        try await ServerStage.run(secret: ServerSecret(bytes: [UInt8](repeating: 1, count: 16))) {
            (stage: ServerStage) async throws in
            #expect(try await stage.ask(segment).status == 302)
        }
    }
}
