import Foundation
import NIOCore
import Testing

@testable import MillstreamServer

/// Tests credentials, ranges and delays at their limits.
@Suite struct ServerTextFaultTests {
    @Test(
        arguments: [
            ("0123456789a", nil), ("0123456789ab", false), ("me:0123456789a", nil), ("me:0123456789ab", true),
            (":0123456789ab", nil), ("me 0123456789ab", nil), ("m e:0123456789ab", true), ("0123456789ab:", nil),
            ("m:012345:789ab", true), ("0123456789a\u{1F}", nil), ("0123456789a\u{7F}", nil), ("0123456789a~", false),
        ] as [(String, Bool?)]
    )
    func credentialsHaveEnoughPrintableBytes(text: String, isBasic: Bool?) {
        #expect(OwnerCredentials(text)?.isBasic == isBasic)
    }

    @Test func fieldNamesTheSchemeInAnyCase() throws {
        let code = Data("me:0123456789ab".utf8).base64EncodedString()
        let basic = try #require(OwnerCredentials("me:0123456789ab"))
        let token = try #require(OwnerCredentials("0123456789ab"))
        for field in ["Basic \(code)", "basic \(code)", "BASIC  \(code)"] {
            #expect(basic.accept(field) && !token.accept(field), "\(field)")
        }
        for field in ["Bearer 0123456789ab", "bearer   0123456789ab"] {
            #expect(token.accept(field) && !basic.accept(field), "\(field)")
        }
        for field in [nil, "", code, "0123456789ab", "Bearer 0123456789AB", "Bearer \(code)", "Basic", "Basic "] {
            #expect(!token.accept(field) && !basic.accept(field))
        }
        #expect(basic.challenge.hasPrefix("Basic ") && token.challenge.hasPrefix("Bearer "))
    }

    @Test func fileOfCredentialsIsLimited() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        defer { try? FileManager.default.removeItem(at: file) }
        for (end, count, isValid) in [("\n", 4_096, true), ("\r\n", 4_096, true), ("\n", 4_097, false)] {
            let line = Array("me:0123456789ab\(end)".utf8)
            let rest = [UInt8](repeating: 0x01, count: count - line.count)
            try Data(line + rest).write(to: file)
            let credentials = try? OwnerCredentials(file: file)
            #expect((credentials != nil) == isValid, "\(count)")
            let field = "Basic " + Data("me:0123456789ab".utf8).base64EncodedString()
            #expect((credentials?.accept(field) ?? false) == isValid)
        }
        try Data("0123456789ab".utf8).write(to: file)
        for (mode, isReadable) in [(0o600, false), (0o640, true), (0o604, true), (0o700, false), (0o601, true)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
            let credentials = try OwnerCredentials(file: file)
            #expect(credentials.isReadableByOthers == isReadable, "\(mode)")
        }
    }

    @Test(
        arguments: [
            ("bytes=0-", 0, .notSatisfiable), ("bytes=-1", 0, .notSatisfiable), ("bytes=-1", 1, .bytes(0...0)),
            ("bytes=0-0", 1, .bytes(0...0)), ("bytes=1-1", 1, .notSatisfiable), ("bytes=3-3", 10, .bytes(3...3)),
            ("bytes=0-9", 10, .bytes(0...9)), ("bytes=0-10", 10, .bytes(0...9)), ("bytes=-10", 10, .bytes(0...9)),
            ("bytes=-11", 10, .bytes(0...9)), ("bytes=-9", 10, .bytes(1...9)), ("bytes=/-9", 10, .invalid),
            ("bytes=:-9", 10, .invalid), ("bytes=0-:", 10, .invalid), ("Bytes=0-1", 10, .invalid),
        ] as [(String, Int, RequestedRange)]
    )
    func rangeHasTheBytesOfTheResource(text: String, size: Int, range: RequestedRange) {
        #expect(RequestedRange(text, size: size) == range)
    }

    @Test func delaysAreAtMostAYear() {
        let year = TimeAmount.seconds(31_536_000)
        #expect(TimeAmount(limiting: .seconds(-1)) == .zero && TimeAmount(limiting: .zero) == .zero)
        #expect(TimeAmount(limiting: .nanoseconds(1)) == .nanoseconds(1))
        #expect(TimeAmount(limiting: .milliseconds(1_500)) == .milliseconds(1_500))
        #expect(TimeAmount(limiting: .seconds(31_535_999)) == .seconds(31_535_999))
        #expect(TimeAmount(limiting: .seconds(31_536_000)) == year)
        #expect(TimeAmount(limiting: .seconds(31_536_001)) == year)
        #expect(TimeAmount(limiting: .seconds(Int64.max)) == year)
    }
}
