import HTTPTypes
import Testing

@testable import MillstreamServer

/// Tests the advice in the responses to requests for sources that the server may not load.
@Suite(.serialized, .timeLimit(.minutes(10))) struct RefusedSourceTests {
    /// A private host that neither the options nor the catalog name.
    private static let source = "http://10.1.2.3:6183/live.m3u8"

    @Test func routesOfTheOwnerNameTheOption() async throws {
        try await ServerStage.run { (stage: ServerStage) async throws in
            let body = #"{"url":"\#(Self.source)"}"#
            let json = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"]
            for fields in AccessTableTests.ownFields {
                let responses = [
                    try await stage.ask("/api/inspect?url=\(Self.source)", fields: fields),
                    try await stage.ask("/api/downloads", method: "POST", fields: fields + json, body: body),
                    try await stage.ask("/play.m3u8?url=\(Self.source)", fields: fields),
                    try await stage.ask(
                        "/api/playback/playlist?address=/play.m3u8%3Furl%3D\(Self.source)",
                        fields: fields
                    ),
                ]
                for response in responses {
                    #expect(response.status == 403 && response.errorCode == "address-refused", "\(response.body)")
                    #expect(response.body.contains("--allow-host 10.1.2.3:6183 added"), "\(response.body)")
                    #expect(!response.body.contains("pages of other sites"), "\(response.body)")
                }
            }
        }
    }

    /// The error of a route without guards also has the advice for its client.
    @Test func clientIsKnownBeforeAnErrorIsDescribed() {
        let refused = ServerError(.forbidden, "address-refused", "loading this URL is not allowed", hint: "an option")
        #expect(refused.advising(.player).hint == "an option" && refused.advising(.ownPage).hint == "an option")
        #expect(refused.advising(.foreignPage).hint?.hasPrefix("pages of other sites receive") == true)
        #expect(refused.advising(.foreignHost).hint?.hasSuffix("--server-name NAME") == true)
        let other = ServerError(.notFound, "not-found", "not found")
        #expect(other.advising(.foreignPage).hint == nil)
    }
}
