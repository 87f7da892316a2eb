import MediaTiming
import ResourceAddressing
import Synchronization
import Testing

@testable import MediaTransport

/// A transport that returns redirects instead of following them, and records the requests.
private final class RedirectingTransport: Transport {
    private let targets: [String: String]
    private let status: Int
    private let received = Mutex<[TransportRequest]>([])

    init(_ targets: [String: String], status: Int = 302) {
        self.targets = targets
        self.status = status
    }

    var requests: [TransportRequest] { received.withLock { $0 } }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        received.withLock { $0.append(request) }
        let target = targets[request.address.text]
        return TransportResponse(
            status: target == nil ? 200 : status,
            headers: target.map { [HeaderField("Location", $0)] } ?? [],
            address: request.address,
            expectedLength: 1,
            body: TransportBody([1])
        )
    }
}

/// Tests the redirects that a transport returns instead of following them.
@Suite struct RedirectFollowingTests {
    private static let address = ResourceAddress("https://h/a")
    private static let request = TransportRequest(address, kind: .segment, headers: [HeaderField("X-Token", "t")])

    @Test(arguments: [
        ("https://h/b", true), ("/b", true), ("b?c", true), ("https://H:443/b", true), ("HTTPS://h/b", true),
        ("https://h:444/b", false), ("http://h/b", false), ("http://h:443/b", false), ("https://i/b", false),
    ])
    func headerFieldsAreSentToTheOriginOfTheRequest(target: String, isSent: Bool) async throws {
        let transport = RedirectingTransport([Self.address.text: target])
        let response = try await transport.sendFollowingRedirects(Self.request)
        #expect(response.address == Self.address.resolving(target) && response.status == 200)
        #expect(transport.requests.map { $0.headers.count } == [1, isSent ? 1 : 0])
        #expect(transport.requests.allSatisfy { $0.kind == .segment })
    }

    @Test func headerFieldsThatWereRemovedStayRemoved() async throws {
        let transport = RedirectingTransport([Self.address.text: "https://i/b", "https://i/b": "https://h/c"])
        _ = try await transport.sendFollowingRedirects(Self.request)
        #expect(transport.requests.map { $0.headers.count } == [1, 0, 0])
    }

    @Test(arguments: [
        (301, true), (302, true), (303, true), (307, true), (308, true), (300, false), (305, false), (404, false),
    ])
    func onlyRedirectsAreFollowed(status: Int, isFollowed: Bool) async throws {
        let transport = RedirectingTransport([Self.address.text: "https://h/b"], status: status)
        if isFollowed {
            #expect(try await transport.sendFollowingRedirects(Self.request).address.text == "https://h/b")
        } else {
            let error = await #expect(throws: TransportError.self) {
                try await transport.sendFollowingRedirects(Self.request)
            }
            #expect(error?.code == .status && error?.status == status && error?.address == Self.address)
        }
        #expect(transport.requests.count == (isFollowed ? 2 : 1))
    }

    @Test func redirectWithoutAURLIsAnError() async throws {
        let transport = RedirectingTransport([Self.address.text: ""])
        let error = await #expect(throws: TransportError.self) {
            try await transport.sendFollowingRedirects(Self.request)
        }
        #expect(error?.code == .status && error?.status == 302)
    }

    @Test(arguments: [200, 299, 304])
    func successfulStatusesAreReturned(status: Int) async throws {
        let transport = RedirectingTransport([Self.address.text: "https://h/b"], status: status)
        #expect(try await transport.sendFollowingRedirects(Self.request).status == status)
        #expect(transport.requests.count == 1)
    }

    @Test func twentyRedirectsAreFollowed() async throws {
        func targets(_ count: Int) -> [String: String] {
            var result: [String: String] = [:]
            for number in 0..<count { result["https://h/\(number)"] = "https://h/\(number + 1)" }
            return result
        }
        let request = TransportRequest(ResourceAddress("https://h/0"), kind: .segment)
        let response = try await RedirectingTransport(targets(20)).sendFollowingRedirects(request)
        #expect(response.address.text == "https://h/20")
        let transport = RedirectingTransport(targets(21))
        let error = await #expect(throws: TransportError.self) { try await transport.sendFollowingRedirects(request) }
        #expect(error?.code == .badRedirect && transport.requests.count == 21)
    }
}
