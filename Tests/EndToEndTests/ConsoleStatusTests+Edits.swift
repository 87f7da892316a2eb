import Foundation
import Testing

/// Tests how edits are combined in the console.
extension ConsoleStatusTests {
    private static let menu = "document.querySelector('#add-edit')"

    /// The parameters of the playback URL that is shown, without that of the source.
    private func shownEdits(_ stage: Stage) async throws -> [String] {
        let url = try await stage.page.text("document.querySelector('#playback-url').value")
        let items = try #require(URLComponents(string: url)).queryItems ?? []
        return items.filter { $0.name != "url" }.map { "\($0.name)=\($0.value ?? "")" }
    }

    /// Adds an edit, and enters its value.
    private func add(_ name: String, _ value: String, _ number: Int, _ stage: Stage) async throws {
        try await stage.page.choose(name, in: "#add-edit")
        _ = try await stage.page.evaluate(
            """
            (field => {
              field.value = '\(value)'
              field.dispatchEvent(new Event('change', {bubbles: true}))
            })(document.querySelector('#added-\(number)-\(name)'))
            """
        )
    }

    /// An edit is applied twice, and the limit of the duration after edits that precede it in their controls.
    @Test(.timeLimit(.minutes(10))) func editsAreRepeatedAndApplyInTheirOrder() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.choose("ad", in: "#append")
            try await stage.page.click("#more-edits summary")
            try await add("cut", "12...24", 1, stage)
            try await add("cut", "36...48", 2, stage)
            try await eventually("all edits apply") { abs(try await stage.video.duration - 68) < 0.2 }
            try await add("duration", "30", 3, stage)
            try await eventually("the limit applies after them") { abs(try await stage.video.duration - 30) < 0.2 }
            let advertisement = stage.origin.address("ad/multivariant.m3u8")
            let added = ["cut=12...24", "cut=36...48", "duration=30"]
            #expect(try await shownEdits(stage) == ["append=\(advertisement)"] + added)
            // The first 12 s are followed by what was after the first cut.
            try await expectFrame(13, shows: 25, stage.video)
            try await stage.page.click("#added-edits > li:first-child > button")
            try await eventually("the first cut is removed") {
                try await shownEdits(stage) == ["append=\(advertisement)", "cut=36...48", "duration=30"]
            }
            // Another stream is not edited.
            try await play("fmp4", on: stage)
            #expect(try await shownEdits(stage).isEmpty)
            #expect(try await stage.page.isTrue("document.querySelector('#added-edits').childElementCount === 0"))
        }
    }

    /// The parameter is no edit, so that it has a control of its own.
    @Test(.timeLimit(.minutes(10))) func redundantVariantsAreLeftOutIfThatIsSelected() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.click("#more-edits summary")
            try await stage.page.choose("available", in: "#redundant")
            try await eventually("the playback URL has the parameter") {
                try await shownEdits(stage) == ["redundant=available"]
            }
            #expect(try await stage.page.isTrue("!document.querySelector('#redundant-note').hidden"))
            #expect(
                try await stage.page.number("fetch(document.querySelector('#playback-url').value).then(r => r.status)")
                    == 200
            )
            // It is not selected for another stream.
            try await play("fmp4", on: stage)
            #expect(try await shownEdits(stage).isEmpty)
        }
    }

    /// The text is at the control of the edit, and disappears when the control has another value.
    @Test(.timeLimit(.minutes(10))) func wrongValueOfAnEditIsExplainedNextToIt() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.click("#more-edits summary")
            try await add("max-height", "0.5", 1, stage)
            let number = "document.querySelector('#added-1-max-height')"
            #expect(try await stage.page.isTrue("\(number).matches('[aria-invalid=true]')"))
            #expect(
                try await stage.page.text("document.querySelector('#added-1-max-height-error').textContent")
                    .contains("must be")
            )
            try await add("max-height", "720", 2, stage)
            #expect(try await stage.page.isTrue("document.querySelector('#added-2-max-height-error').hidden"))
            // What the player tells of a refused value is shown at the control too.
            let refused = try await stage.page.text(
                """
                (async () => {
                  const {createEditControl} = await import('/console/edit-controls.js')
                  const definition = {name: 'cut', title: 'Cut', summary: '', parameter: {type: 'text', placeholder: 'RANGE'}}
                  const control = createEditControl({...definition, examples: ['12...24']}, 'other-cut')
                  const [field] = control.fields
                  const note = control.node.querySelector('#other-cut-error')
                  const state = () => `${field.getAttribute('aria-invalid')} ${note.hidden} ${note.textContent}`
                  control.showError('Cut must be a range.')
                  const states = [field.placeholder, state()]
                  field.dispatchEvent(new Event('change'))
                  return [...states, state()].join('; ')
                })()
                """
            )
            #expect(refused == "e.g. 12...24; true false Cut must be a range.; null true ", "\(refused)")
        }
    }

    @Test(.timeLimit(.minutes(10))) func notMoreEditsAreAddedThanTheServerApplies() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.click("#more-edits summary")
            let limit = try await Int(
                stage.page.number("fetch('/api/edits').then(r => r.json()).then(a => a.limits.edits)")
            )
            for _ in 0..<limit { try await stage.page.choose("absolute", in: "#add-edit") }
            #expect(try await stage.page.isTrue("\(Self.menu).disabled"))
            let note = "document.querySelector('#edit-limit-note')"
            #expect(try await stage.page.isTrue("!\(note).hidden"))
            #expect(try await stage.page.text("\(note).textContent").contains("at most \(limit) edits"))
            try await eventually("all edits are in the playback URL") {
                try await shownEdits(stage).count == limit
            }
            #expect(
                try await stage.page.number("fetch(document.querySelector('#playback-url').value).then(r => r.status)")
                    == 200
            )
            try await stage.page.click("#added-edits > li:first-child > button")
            #expect(try await stage.page.isTrue("!\(Self.menu).disabled && \(note).hidden"))
        }
    }

    /// An edit without its value is not applied yet, but can be completed at any time.
    @Test(.timeLimit(.minutes(10))) func addedEditsCountBeforeTheyHaveValues() async throws {
        try await onStage { stage in
            try await play("ts", on: stage)
            try await stage.page.click("#more-edits summary")
            let limit = try await Int(
                stage.page.number("fetch('/api/edits').then(r => r.json()).then(a => a.limits.edits)")
            )
            for _ in 1..<limit { try await stage.page.choose("cut", in: "#add-edit") }
            #expect(try await stage.page.isTrue("!\(Self.menu).disabled"))
            try await stage.page.choose("cut", in: "#add-edit")
            #expect(try await stage.page.isTrue("\(Self.menu).disabled"))
            #expect(try await shownEdits(stage).isEmpty)
            try await stage.page.click("#added-edits > li:first-child > button")
            #expect(try await stage.page.isTrue("!\(Self.menu).disabled"))
        }
    }
}
