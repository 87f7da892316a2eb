import ResourceAddressing
import Testing

@testable import MediaTransport

/// Tests the classification of failures, which is the only one in the package.
@Suite struct FailureCategoryTests {
    /// The statuses that report a temporary failure.
    private static let busy = Set([408, 425, 429, 500] + (502...504) + (506...599))

    @Test(arguments: TransportRequest.Kind.allCases)
    func everyStatusHasOneCategory(kind: TransportRequest.Kind) {
        for status in 100...699 {
            let category = TransportError(.status, "no", status: status).category(of: kind)
            let isDenied = kind == .key && [401, 402, 403].contains(status)
            #expect(
                category == (isDenied ? .denied : Self.busy.contains(status) ? .busy : .missing),
                "status \(status)"
            )
            #expect(category == FailureCategory(status: status, kind: kind))
        }
        #expect(TransportError(.status, "no").category(of: kind) == .missing)
    }

    @Test(arguments: [
        (TransportError.Code.cannotConnect, FailureCategory.unreachable), (.timedOut, .unreachable),
        (.connectionLost, .unreachable), (.unknownHost, .unreachable), (.wrongContent, .inconsistent),
        (.contentChanged, .inconsistent), (.tooManyLookups, .missing), (.tooLarge, .missing), (.badRedirect, .missing),
        (.addressRefused, .missing), (.networkRefused, .missing), (.fileNotFound, .missing), (.fileFailed, .missing),
        (.insecure, .missing), (TransportError.Code(rawValue: "other"), .missing),
    ])
    func everyErrorCodeHasOneCategory(code: TransportError.Code, category: FailureCategory) {
        for kind in TransportRequest.Kind.allCases {
            // The status of the response does not matter if its content is the problem.
            #expect(TransportError(code, "no", status: 503).category(of: kind) == category)
        }
    }

    @Test func localFilesAreNotRequestedAgain() {
        let file = ResourceAddress(filePath: "/a.mp4")
        for code: TransportError.Code in [.wrongContent, .fileNotFound] {
            #expect(TransportError(code, "no", address: file).category(of: .segment) == .missing)
        }
        // A playlist that is being rewritten is read again.
        #expect(TransportError(.connectionLost, "no", address: file).category(of: .playlist) == .unreachable)
    }

    /// Another attempt would take as long.
    @Test(arguments: TransportRequest.Kind.allCases)
    func aDocumentThatTookTooLongIsNotRequestedAgain(kind: TransportRequest.Kind) {
        var error = TransportError(.timedOut, "too slow")
        error.exceedsDocumentTime = true
        #expect(error.category(of: kind) == .missing)
        #expect(error.at(ResourceAddress("https://h/b")).category(of: kind) == .missing)
    }

    @Test(arguments: TransportRequest.Kind.allCases)
    func anExceededSizeLimitIsFinal(kind: TransportRequest.Kind) {
        let failure = RecoveryPolicy.Failure(TransportError(.tooLarge, "too large"), of: kind)
        #expect(failure.exceedsSizeLimit)
        #expect(!RecoveryPolicy.Failure(TransportError(.status, "no", status: 404), of: kind).exceedsSizeLimit)
        var history = RecoveryPolicy.History()
        let policy = RecoveryPolicy(retries: 100)
        let delay = policy.retryDelay(after: failure, of: kind, &history, jitter: 1)
        #expect(delay == nil)
        // Also if it belongs to a category that is repeated otherwise.
        let other = RecoveryPolicy.Failure(.unreachable, exceedsSizeLimit: true)
        let otherDelay = policy.retryDelay(after: other, of: kind, &history, jitter: 1)
        #expect(otherDelay == nil)
    }

    @Test func failuresOfTheServerAndTheNetworkAreTransient() {
        let transient = FailureCategory.allCases.filter(\.isTransient)
        #expect(transient == [.unreachable, .busy, .inconsistent])
    }
}
