import Testing

/// Tests how the console delivers segments.
extension ConsoleTests {
    @Test(.timeLimit(.minutes(10))) func deliveryOfSegmentsIsChosen() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            let shown = "document.querySelector('#playback-url').value"
            for (choice, parameter) in [("proxy", "&segments=proxy"), ("direct", "&segments=direct"), ("", "")] {
                try await stage.page.choose(choice, in: "#segments")
                try await eventually("the playback URL has “\(parameter)”") {
                    let url = try await stage.page.text(shown)
                    return parameter.isEmpty ? !url.contains("segments=") : url.contains(parameter)
                }
                let isHidden = try await stage.page.isTrue("document.querySelector('#segments-note').hidden")
                #expect(isHidden == parameter.isEmpty)
            }
        }
    }
}
