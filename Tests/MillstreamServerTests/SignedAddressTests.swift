import Foundation
import MediaTiming
import MediaTransport
import MillstreamTesting
import ResourceAddressing
import Testing

@testable import MillstreamServer

/// Tests servers that admit only signed playback addresses.
@Suite struct SignedAddressTests {
    private static let secret = ServerSecret(bytes: [UInt8](repeating: 7, count: 16))
    private static let path = "/play.m3u8?url=https://h/a.m3u8%3Fx&bandwidth=1...2&define=a%3Db"

    private func verify(_ path: String, at now: Int64 = 0, secret: ServerSecret = secret) -> String {
        do {
            let expiry = try PlaybackSigner(secret).verify(
                QueryItems(ResourceAddress(path).query),
                at: UnixSeconds(now)
            )
            return expiry.map { "until \($0.time.rawValue)" } ?? "forever"
        } catch {
            return ServerError(error).code
        }
    }

    private func signed(_ path: String = path, expires: Int64? = nil) throws -> String {
        try Self.secret.signedAddress(ResourceAddress(path), expires: expires.map { UnixSeconds($0) }).text
    }

    @Test func signedAddressIsAdmittedUntilItExpires() throws {
        #expect(verify(try signed()) == "forever")
        let limited = try signed(expires: 100)
        #expect(limited.hasPrefix(Self.path + "&expires=100&signature="))
        #expect(verify(limited, at: 99) == "until 100")
        #expect(verify(limited, at: 100) == "expired-address")
        #expect(verify(Self.path) == "missing-signature")
        #expect(verify(limited, secret: ServerSecret(bytes: [UInt8](repeating: 8, count: 16))) == "invalid-signature")
    }

    @Test func otherSpellingsAndDeliveryDirectivesAreAdmitted() throws {
        let address = try signed(expires: 100)
        for (text, other) in [("https://", "https%3A%2F%2F"), ("1...2", "1%2E..2"), ("url=", "%75rl=")] {
            #expect(verify(address.replacing(text, with: other), at: 1) == "until 100", "\(other)")
        }
        #expect(verify(address + "&_HLS_msn=3&_HLS_part=1", at: 1) == "until 100")
    }

    /// A character that joins the separator after it is the end of an item, and one after a separator its beginning.
    @Test func combiningCharactersHideNoItem() throws {
        let address = "/play.m3u8?url=https://h/a.m3u8&_HLS_x=\u{600}"
        #expect(verify(try signed(address, expires: 100), at: 99) == "until 100")
        let path = try signed(expires: 100)
        #expect(verify(path + "&\u{301}segments=direct", at: 99) == "invalid-signature")
    }

    @Test func changedAddressesAreRefused() throws {
        let address = try signed(expires: 100)
        let signature = try #require(address.split(separator: "=").last)
        let changes: [(String, String)] = [
            ("https://h/", "https://g/"), ("url=", "URL="), ("1...2", "1...3"), ("expires=100", "expires=1000"),
            ("&expires=100", ""), ("&bandwidth=1...2", ""), ("&define=a%3Db", "&define=a%3Dc"),
            ("&define", "&url=https://g/b&define"), ("?url", "?duration=4&url"),
            ("&signature=", "&absolute&signature="),
            ("&signature=", "&expires=1000&signature="), (String(signature), String(signature.dropLast())),
            (String(signature), signature + "="), (String(signature), signature.lowercased()), (String(signature), ""),
            ("&signature=", "&signature=\(signature)&signature="),
            ("bandwidth=1...2&define=a%3Db", "define=a%3Db&bandwidth=1...2"),
            ("%3Fx&", "%3Fx%26"), ("a%3Db", "a%253Db"),
        ]
        for (text, other) in changes {
            #expect(verify(address.replacing(text, with: other), at: 1) == "invalid-signature", "\(text) → \(other)")
        }
        #expect(verify(address + "&duration=4", at: 1) == "invalid-signature")
    }

    @Test func expiryInAnotherFormIsRefused() throws {
        for value in ["", "+100", "0100", "1e9", "99999999999999999999", "-"] {
            let items = QueryItems("url=https://h/a&expires=\(value.replacing("+", with: "%2B"))").items
            let query = QueryItems(items + [PlaybackSigner(Self.secret).signatureItem(of: items)])
            let error = #expect(throws: ServerError.self) {
                try PlaybackSigner(Self.secret).verify(query, at: UnixSeconds(0))
            }
            #expect(error?.code == "invalid-value", "\(value)")
        }
    }

    @Test func signingReplacesAnEarlierSignature() throws {
        let first = try signed(expires: 100)
        #expect(try signed(first, expires: 200) == signed(expires: 200))
        #expect(
            try signed("http://h:1/play.m3u8?url=https://h/a").hasPrefix(
                "http://h:1/play.m3u8?url=https://h/a&signature="
            )
        )
    }

    /// A playlist and the manifest of one channel have the same signature.
    @Test func manifestOfAChannelIsSigned() throws {
        let query = "?url=https://h/a&live=loop"
        let manifest = try signed("/play.mpd" + query)
        let playlist = try signed("/play.m3u8" + query)
        #expect(verify(manifest) == "forever")
        #expect(manifest.replacing("/play.mpd", with: "/play.m3u8") == playlist)
    }

    @Test(arguments: [
        "/play.m3u8", "/play.m3u8?url=ftp://h/a", "/play.m3u8?url=https://h/a#f", "/segment/a?url=https://h/a",
        "play.m3u8?url=https://h/a", "//play.m3u8?url=https://h/a", "file:///play.m3u8?url=https://h/a",
        "/play.m3u8?url=https://h/a&unknown=1", "",
    ])
    func addressThatCannotBePlayedIsNotSigned(path: String) {
        let error = #expect(throws: SigningError.self) { try signed(path) }
        #expect(error?.code == .invalidAddress)
    }

    @Test func playlistsOfAServerContainOnlySignedAddresses() async throws {
        try await ServerStage.run(
            secret: Self.secret,
            configure: { options, origin in
                options.admitsOnlySignedAddresses = true
                origin.set(
                    "/top.m3u8",
                    .text(
                        "#EXTM3U\n#EXT-X-STREAM-INF:BANDWIDTH=1\npublic.m3u8\n",
                        contentType: "application/vnd.apple.mpegurl"
                    )
                )
                origin.behave("/top.m3u8", .proper)
            },
            { stage in
                let plain = "/play.m3u8?url=\(ServerStage.publicHost)/top.m3u8&duration=4"
                #expect(try await stage.ask(plain).errorCode == "missing-signature")
                let now = Int64(Date().timeIntervalSince1970)
                #expect(try await stage.ask(signed(plain, expires: now - 1)).errorCode == "expired-address")
                #expect(try await stage.ask(signed(plain) + "&duration=9").errorCode == "invalid-signature")
                #expect(stage.requests.isEmpty, "nothing was loaded for refused addresses")

                let top = try await stage.ask(signed(plain, expires: now + 3_600))
                let child = try #require(top.body.split(separator: "\n").last.map { String($0) })
                #expect(child.contains("&duration=4") && child.contains("&expires=\(now + 3_600)&signature="))
                let media = try await stage.ask(child)
                #expect(media.status == 200, "\(media.body)")
                let segment = try #require(
                    media.body.split(separator: "\n").first { !$0.hasPrefix("#") }.map { String($0) }
                )
                #expect(segment.contains("&expires=\(now + 3_600)"))
                #expect(try await stage.ask(segment).status == 302)
                for changed in ["expires=\(now + 9_999)", "x=1"] {
                    let forged = segment.replacing("expires=\(now + 3_600)", with: changed)
                    #expect(try await stage.ask(forged).errorCode == "invalid-signature", "\(changed)")
                }
                let link = SegmentAddress(
                    ResourceAddress(ServerStage.publicHost + "/public.ts"),
                    delivery: .redirect,
                    link: nil,
                    expiry: AddressExpiry(UnixSeconds(now - 1))
                )
                #expect(
                    try await stage.ask(link.path(signedBy: SegmentSigner(Self.secret))).errorCode == "expired-address"
                )
            }
        )
    }

    @Test func consoleOfASignedServerIsForThisMachineAndSignsAddresses() async throws {
        try await ServerStage.run(
            secret: Self.secret,
            configure: { options, _ in options.admitsOnlySignedAddresses = true },
            { stage in
                #expect(try await stage.ask("/api/signing").body == "{\"required\":true}")
                let plain = "/play.m3u8?url=\(stage.publicSource)"
                let query = "/api/playback-address?address=" + PercentEncoding.encode(plain)
                let response = try await stage.ask(query)
                let text = try #require(response.body.firstMatch(of: /"address":"([^"]*)"/)?.1)
                #expect(try await stage.ask(String(text)).status == 200)
                #expect(try await stage.ask("/api/playback-address?address=/api/library").status == 400)
                for path in ["/", "/api/library", "/metrics", "/offline/a/b.m3u8", query] {
                    for field in [
                        "X-Forwarded-For: 1.2.3.4", "Forwarded: for=1.2.3.4", "Via: 1.1 proxy", "X-Real-IP: 1.2.3.4",
                    ] {
                        let refused = try await stage.ask(path, fields: [field])
                        #expect(refused.status == 403 && refused.errorCode == "not-this-machine", "\(path) \(field)")
                    }
                }
                #expect(try await stage.ask("/health", fields: ["Via: 1.1 proxy"]).status == 200)
            }
        )
    }

    @Test(arguments: ["owner:correct horse", "a-token-of-the-owner"])
    func ownerRoutesRequireTheCredentials(text: String) async throws {
        try await ServerStage.run(
            configure: { options, _ in options.credentials = OwnerCredentials(text) },
            { stage in
                let isBasic = text.contains(":")
                let value = isBasic ? "Basic " + Data(text.utf8).base64EncodedString() : "Bearer " + text
                for path in ["/", "/console/main.js", "/api/library", "/metrics", "/offline/a/b.m3u8"] {
                    let refused = try await stage.ask(path)
                    #expect(refused.status == 401, "\(path)")
                    #expect(refused.field("WWW-Authenticate")?.hasPrefix(isBasic ? "Basic realm=" : "Bearer") == true)
                    let wrong = [
                        "Basic", "Bearer \(text)x", "Basic eDp5", value.dropLast() + "!", "Digest " + text, value + " ",
                    ]
                    // After ten attempts a client has to wait.
                    for field in wrong where path == "/metrics" {
                        #expect(
                            try await stage.ask(path, fields: ["Authorization: \(field)x"]).status == 401,
                            "\(field)"
                        )
                    }
                    let admitted = try await stage.ask(path, fields: ["Authorization: \(value)"]).status
                    #expect(admitted == (path.hasPrefix("/offline") ? 404 : 200), "\(path)")
                }
                #expect(try await stage.ask("/health").status == 200)
                #expect(try await stage.ask("/play.m3u8?url=\(stage.publicSource)").status == 200)
            }
        )
    }

    @Test func wrongCredentialsCannotBeTriedQuickly() async throws {
        try await ServerStage.run(
            configure: { options, _ in options.credentials = OwnerCredentials("a-token-of-the-owner") },
            { stage in
                for _ in 0..<20 { #expect(try await stage.ask("/api/library").status == 401) }
                for number in 0..<10 {
                    let field = "Authorization: Bearer guess-\(number)"
                    #expect(try await stage.ask("/api/library", fields: [field]).status == 401)
                }
                for field in ["Bearer guess-11", "Bearer a-token-of-the-owner"] {
                    let refused = try await stage.ask("/api/library", fields: ["Authorization: \(field)"])
                    #expect(refused.status == 429 && refused.errorCode == "too-many-attempts")
                    #expect((1...60).contains(refused.field("Retry-After").flatMap { Int($0) } ?? 0))
                }
                #expect(try await stage.ask("/health").status == 200)
            }
        )
    }

    @Test func attemptsAreCountedByClient() throws {
        let time = ManualTime()
        let attempts = FailedAttempts(time: time)
        func address(_ text: String) throws -> HostAddress { try #require(HostAddress(numeric: text)) }
        let first = try address("192.0.2.1")
        for _ in 0..<9 { attempts.record(first) }
        #expect(attempts.delay(for: first) == nil)
        time.advance(by: .seconds(30))
        attempts.record(first)
        #expect(attempts.delay(for: first) == .seconds(60))
        #expect(attempts.delay(for: try address("192.0.2.2")) == nil && attempts.delay(for: nil) == nil)
        time.advance(by: .seconds(60))
        #expect(attempts.delay(for: first) == nil)
        // After the wait, attempts are counted anew.
        attempts.record(first)
        #expect(attempts.delay(for: first) == nil)
        for number in 0..<10 { attempts.record(try address("2001:db8::\(number)")) }
        #expect(attempts.delay(for: try address("2001:db8::ffff")) == .seconds(60))
        #expect(attempts.delay(for: try address("2001:db8:0:1::1")) == nil)
        for number in 0..<5_000 { attempts.record(try address("10.0.\(number / 250).\(number % 250)")) }
        // Many clients with wrong credentials do not keep others out.
        #expect(attempts.delay(for: try address("10.1.1.1")) == nil)
    }

    @Test func credentialsAreReadFromTheFirstLineOfAFile() throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("credentials-\(UUID())")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data("owner:correct horse\r\nmore".utf8).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        let credentials = try OwnerCredentials(file: file)
        #expect(!credentials.isReadableByOthers && credentials.isBasic)
        #expect(credentials.accept("basic " + Data("owner:correct horse".utf8).base64EncodedString()))
        #expect(!credentials.accept(nil) && !credentials.accept("") && !credentials.accept("Basic "))
        for text in ["", "short", "owner:short", ":no name here", "a token with spaces", "owner:\u{7}with a bell"] {
            try Data(text.utf8).write(to: file)
            #expect(throws: OwnerCredentials.ReadingError.self) { try OwnerCredentials(file: file) }
        }
        try FileManager.default.removeItem(at: file)
        #expect(throws: OwnerCredentials.ReadingError.self) { try OwnerCredentials(file: file) }
    }
}
