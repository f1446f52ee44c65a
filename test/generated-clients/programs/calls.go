// One call of each kind through the client that oapi-codegen made: prints what each answered, as JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"strings"

	"verbatim.example/calls/verbatim"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	url, key, audio, receiver := os.Args[1], os.Args[2], os.Args[3], os.Args[4]
	ctx := context.Background()
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", key)
		return nil
	}
	client := must(verbatim.NewClientWithResponses(url, verbatim.WithRequestEditorFn(withKey)))

	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	part := must(writer.CreateFormFile("file", "tone.wav"))
	must(part.Write(must(os.ReadFile(audio))))
	writer.Close()
	uploaded := must(client.PostTranscribeWithBodyWithResponse(ctx, nil, writer.FormDataContentType(), &form))
	id := uploaded.JSON200.Id
	job := must(client.GetJobsIdWithResponse(ctx, id, nil))
	one := 1
	jobs := must(client.GetJobsWithResponse(ctx, &verbatim.GetJobsParams{Limit: &one}))
	transcript := must(client.GetJobsIdTranscriptWithResponse(ctx, id, nil))
	missing := must(client.GetJobsIdWithResponse(ctx, "job_00000000000000000000000000", nil))
	wanted := verbatim.PostWebhooksJSONRequestBody{
		Url:    receiver,
		Events: []verbatim.PostWebhooksJSONBodyEvents{"transcription.completed"},
	}
	created := must(client.PostWebhooksWithResponse(ctx, nil, wanted)).JSON201
	description := "changed"
	change := verbatim.PatchWebhooksIdJSONRequestBody{Description: &description}
	changed := must(client.PatchWebhooksIdWithResponse(ctx, created.Id, change))
	tested := must(client.PostWebhooksIdTestWithResponse(ctx, created.Id, nil, verbatim.PostWebhooksIdTestJSONRequestBody{}))
	listed := must(client.GetWebhooksWithResponse(ctx, nil))
	deleted := must(client.DeleteWebhooksIdWithResponse(ctx, created.Id))
	balance := must(client.GetBalanceWithResponse(ctx))

	fmt.Println(string(must(json.Marshal(map[string]any{
		"uploaded":   uploaded.JSON200.Text,
		"read":       job.JSON200.Text,
		"listed":     len(jobs.JSON200.Data) == 1 && jobs.JSON200.Data[0].Id == id,
		"transcript": transcript.JSON200.Text,
		"missing":    missing.JSON404.Error.Type,
		"secret":     strings.HasPrefix(created.Secret, "whsec_"),
		"changed":    changed.JSON200.Description,
		"tested":     tested.JSON202 != nil,
		"webhooks":   len(listed.JSON200.Data),
		"deleted":    deleted.StatusCode(),
		"balance":    balance.JSON200 != nil,
	}))))
}
