import Foundation
import HTTPTypes
import ResourceAddressing
import Testing

@testable import MillstreamServer

@Suite struct SegmentAddressTests {
    private let signer = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 1, count: 32)))

    private func read(_ path: String, _ signer: SegmentSigner? = nil) throws -> SegmentAddress {
        let parts = path.split(separator: "?", maxSplits: 1)
        let name = try #require(parts.first?.split(separator: "/").last)
        return try SegmentAddress(
            name: String(name),
            query: QueryItems(String(try #require(parts.last))),
            signer: signer ?? self.signer
        )
    }

    @Test(arguments: [
        "https://h/a.ts", "http://h:81/v/a b.ts?sig=a%2Fb&x=1+2", "https://h/", "https://h/%C3%A4.ts",
        "https://h/%ff.ts",
        "https://h/..%2f..%2fx", "https://h/%00", "https://h/a?%zz&&=",
        "data:application/octet-stream;base64,AQIDBAUGBwgJCgsMDQ4PEA==",
    ])
    func segmentAddressesRoundTrip(target: String) throws {
        let link = LinkParameters(QueryItems("conditions=3G&link=abc"), source: ResourceAddress("https://h/x"))
        for address in [
            SegmentAddress(ResourceAddress(target), delivery: .redirect, link: nil),
            SegmentAddress(ResourceAddress(target), delivery: .proxy, link: nil),
            SegmentAddress(ResourceAddress(target), delivery: .redirect, link: link),
        ] {
            let path = address.path(signedBy: signer)
            #expect(try read(path) == address)
            #expect(RequestParsing.isUnambiguous(path: String(path.prefix { $0 != "?" })))
        }
    }

    /// Players keep the query items, but may change their order or add items.
    @Test func orderAndAdditionalItemsAreIgnored() throws {
        let address = SegmentAddress(ResourceAddress("https://h/a.ts?x=1&y=2"), delivery: .proxy, link: nil)
        let path = address.path(signedBy: signer)
        let items = try #require(path.split(separator: "?", maxSplits: 1).last).split(separator: "&")
        let reordered = "/segment/a.ts?" + items.reversed().joined(separator: "&") + "&CMCD=br%3D3200%2Cot%3Dv"
        #expect(try read(reordered) == address)
    }

    private func rejection(ofReplacing part: String, with replacement: String) throws -> ServerError? {
        let path = SegmentAddress(ResourceAddress("https://h/a.ts"), delivery: .proxy, link: nil).path(signedBy: signer)
        #expect(path.contains(part))
        return #expect(throws: ServerError.self) {
            try read(path.replacing(part, with: replacement, maxReplacements: 1))
        }
    }

    /// All items that determine the target or the name of a segment are signed.
    @Test(arguments: [
        ("url=https://h/a.ts", "url=https://evil.example/a.ts"), ("url=https://h/a.ts", "url=https://h/b.ts"),
        ("url=https://h/a.ts", "url=http://h/a.ts"), ("segments=proxy", "segments=redirect"), ("&segments=proxy", ""),
        ("segments=proxy", "conditions=3G&link=abc"), ("segments=proxy", "segments=proxy&conditions=3G&link=abc"),
        ("/segment/a.ts", "/segment/setup.exe"), ("url=https://h/a.ts", "url=https://h/a.ts%00"),
        ("signature=", "signature=A"), ("signature=", "x="), ("signature=", "signature=&x="),
    ])
    func changedAddressesAreRejected(part: String, replacement: String) throws {
        let error = try rejection(ofReplacing: part, with: replacement)
        #expect(error?.status == .forbidden && error?.code == "invalid-signature")
    }

    @Test(arguments: [
        ("url=", "url=https://h/b.ts&url=", "repeated-item"),
        ("segments=proxy", "segments=proxy&segments=redirect", "repeated-item"),
        ("segments=proxy", "segments=proxy&url=https://evil.example/", "repeated-item"),
        ("segments=proxy", "segments=proxy&signature=x", "repeated-item"),
        ("url=https://h/a.ts", "url=file:///etc/passwd", "missing-url"), ("url=https://h/a.ts", "url=", "missing-url"),
        ("segments=proxy", "segments=never", "invalid-value"), ("segments=proxy", "segments=direct", "invalid-value"),
    ])
    func malformedAddressesAreRejected(part: String, replacement: String, code: String) throws {
        let error = try rejection(ofReplacing: part, with: replacement)
        #expect(error?.status == .badRequest && error?.code == code)
    }

    /// Every character of a signature is checked.
    @Test func allCharactersOfASignatureAreChecked() throws {
        let address = SegmentAddress(ResourceAddress("https://h/a.ts"), delivery: .redirect, link: nil)
        let signature = Array(signer.signature(of: address))
        #expect(signature.count == 43 && signer.isValid(String(signature), for: address))
        for index in signature.indices.dropLast() {
            var changed = signature
            changed[index] = changed[index] == "A" ? "B" : "A"
            #expect(!signer.isValid(String(changed), for: address))
        }
        for text in ["", String(signature.dropLast()), String(signature) + "A", String(signature) + "=", "\u{e9}"] {
            #expect(!signer.isValid(text, for: address))
        }
    }

    @Test func signatureDependsOnTheBoundariesBetweenItems() {
        let first = SegmentAddress(ResourceAddress("https://h/a/proxy"), delivery: .proxy, link: nil)
        let second = SegmentAddress(ResourceAddress("https://h/a/proxyproxy"), delivery: .proxy, link: nil)
        #expect(!signer.isValid(signer.signature(of: first), for: second))
    }

    @Test func signaturesDependOnTheSecret() throws {
        let address = SegmentAddress(ResourceAddress("https://h/a.ts"), delivery: .redirect, link: nil)
        let other = SegmentSigner(ServerSecret(bytes: [UInt8](repeating: 2, count: 32)))
        let error = #expect(throws: ServerError.self) { try read(address.path(signedBy: other)) }
        #expect(error?.status == .forbidden && error?.code == "invalid-signature")
        #expect(try read(address.path(signedBy: other), other) == address)
    }
}

@Suite struct ServerSecretTests {
    private func withFolder(_ body: (URL) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("secret-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder)
    }

    private func mode(_ file: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        return try #require(attributes[.posixPermissions] as? NSNumber).intValue
    }

    private let address = SegmentAddress(ResourceAddress("https://h/a.ts"), delivery: .redirect, link: nil)

    private func signature(_ secret: ServerSecret) -> String { SegmentSigner(secret).signature(of: address) }

    @Test func secretIsCreatedOnceAndStoredForItsOwnerOnly() throws {
        try withFolder { folder in
            let first = try ServerSecret.stored(in: folder)
            let file = folder.appendingPathComponent("server-secret")
            #expect(try mode(file) == 0o600 && Data(contentsOf: file).count == 32)
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["server-secret"])
            let again = try ServerSecret.stored(in: folder)
            #expect(signature(again) == signature(first))
            try withFolder { other in
                let foreign = try ServerSecret.stored(in: other)
                #expect(signature(foreign) != signature(first))
            }
        }
    }

    @Test func modeOfAStoredSecretIsRestricted() throws {
        try withFolder { folder in
            _ = try ServerSecret.stored(in: folder)
            let file = folder.appendingPathComponent("server-secret")
            #expect(chmod(file.path, 0o644) == 0)
            _ = try ServerSecret.stored(in: folder)
            #expect(try mode(file) == 0o600)
        }
    }

    @Test(arguments: [0, 31, 33])
    func damagedSecretIsAnError(length: Int) throws {
        try withFolder { folder in
            try Data(repeating: 1, count: length).write(to: folder.appendingPathComponent("server-secret"))
            let error = #expect(throws: ServerSecret.ReadingError.self) { try ServerSecret.stored(in: folder) }
            #expect(error?.description.contains("damaged") == true)
        }
    }

    @Test func secretConsistsOfAllBytesOfTheFile() throws {
        try withFolder { folder in
            let file = folder.appendingPathComponent("s")
            try Data("0123456789abcdef".utf8).write(to: file)
            #expect(chmod(file.path, 0o600) == 0)
            let first = try ServerSecret(file: file)
            #expect(!first.isReadableByOthers)
            try Data("0123456789abcdef\n".utf8).write(to: file)
            #expect(chmod(file.path, 0o640) == 0)
            let second = try ServerSecret(file: file)
            #expect(second.isReadableByOthers && signature(first) != signature(second))
        }
    }

    @Test func unusableSecretFilesAreErrors() throws {
        try withFolder { folder in
            let (short, long) = (folder.appendingPathComponent("short"), folder.appendingPathComponent("long"))
            try Data(repeating: 1, count: 15).write(to: short)
            try Data(repeating: 1, count: 65_537).write(to: long)
            for file in [
                short, long, folder, folder.appendingPathComponent("missing"), URL(fileURLWithPath: "/dev/zero"),
            ] {
                let error = #expect(throws: ServerSecret.ReadingError.self) { try ServerSecret(file: file) }
                #expect(error?.description.contains(file.path) == true)
            }
        }
    }
}
